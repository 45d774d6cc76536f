import { setTimeout as sleep } from "node:timers/promises";
import {
  type BrokerCluster,
  type PartitionHandling,
  sharedRedisUrl,
  startBrokerCluster,
  whyNoBrokerCluster,
} from "@rockbot/testing";
import { expect, test } from "vitest";
import { brokenRules, type LedgerReport, summary } from "./effects/ledger.ts";
import { startEffectService } from "./effects/start-effect-service.ts";
import { atScale, record } from "./figures.ts";
import { startLoad } from "./load.ts";
import { openScene } from "./scene.ts";

const isSoak = atScale(0, 1) > 0;
const whyNot = await whyNoBrokerCluster();
const redisUrl = await sharedRedisUrl();
const PER_SECOND = atScale(30, 100);
const DEADLINE_MS = 20_000;
/** From so long after the fault, or the end of what it takes a majority away, calls are answered again. */
const RECOVERED_MS = 10_000;
const MIN_PART_ANSWERED = 0.99;
/** A call may end so for the fault's sake; each is one typed answer. */
const MAY_FAIL = ["timeout", "unavailable", "outcome_unknown", "overloaded"];

interface ClusterFault {
  readonly what: string;
  readonly handling?: PartitionHandling;
  /** Does it, and undoes it. @returns when calls must be answered from, and until when, as pairs */
  readonly play: (cluster: BrokerCluster) => Promise<readonly (readonly [from: number, to: number])[]>;
}

/** @returns the time that begins when calls must be answered again */
async function watch(ms: number): Promise<readonly [number, number]> {
  const from = performance.now() + RECOVERED_MS;
  await sleep(RECOVERED_MS + ms); // calls are made meanwhile
  return [from, performance.now()];
}

/** @param choose which node, as it is called in the cluster */
const killOf = (what: string, choose: (queues: readonly Queue[]) => Queue | undefined): ClusterFault => ({
  what: `the node killed that has ${what}`,
  async play({ nodes }) {
    const listed = JSON.parse(
      (await nodes[0]?.ctl("list_queues", "name", "pid", "--formatter", "json")) ?? "",
    ) as readonly Queue[];
    const index = Number(/@node(\d)/.exec(choose(listed)?.pid ?? "")?.[1]) - 1;
    await nodes[index]?.kill();
    const dead = await watch(5_000);
    await nodes[index]?.restart();
    return [dead, await watch(2_000)];
  },
});

interface Queue {
  readonly name: string;
  /** The process of its leader, which says on which node that is. */
  readonly pid: string;
}

interface Held {
  readonly name: string;
  readonly messages: number;
}

const isOfAnswers = ({ name }: Queue): boolean => name.startsWith("rockbot.result.");
const isOfRequests = ({ name }: Queue): boolean => /^rockbot\.[^.]+\.v1$/.test(name);

/**
 * Where nodes ignore a partition, they stay apart after it until an operator restarts one side, which RabbitMQ's guide
 * on partitions asks for: seen as bindings that one side has and the other has not. The two other strategies heal by
 * themselves.
 */
const partition = (handling: PartitionHandling): ClusterFault => ({
  what: `one node parted from the others for 20 s, ${handling}${handling === "ignore" ? ", then restarted" : ""}`,
  handling,
  async play(cluster) {
    const [node] = cluster.nodes;
    if (node !== undefined) await cluster.part(node);
    await sleep(20_000); // the partition is noticed, and handled
    await cluster.heal();
    if (handling === "ignore") {
      await node?.stop();
      await node?.restart();
    }
    return [await watch(5_000)];
  },
});

const faults: readonly ClusterFault[] = [
  killOf("the queues of answers", (queues) => queues.find(isOfAnswers)),
  ...(isSoak
    ? [
        killOf("the queue of requests", (queues) => queues.find(isOfRequests)),
        {
          what: "all nodes killed",
          async play({ nodes }: BrokerCluster) {
            await Promise.all(nodes.map((node) => node.kill()));
            await Promise.all(nodes.map((node) => node.restart()));
            return [await watch(5_000)];
          },
        },
        {
          what: "each node stopped and started in turn",
          async play({ nodes }: BrokerCluster) {
            const watched = [];
            for (const node of nodes) {
              await node.stop();
              watched.push(await watch(2_000));
              await node.restart();
              await node.ctl("await_online_nodes", String(nodes.length));
            }
            return [...watched, await watch(2_000)];
          },
        },
        partition("ignore"),
        partition("pause_minority"),
        partition("autoheal"),
      ]
    : []),
];

test.for(faults)(
  `F36: a cluster of three with $what answers again within ${RECOVERED_MS / 1_000} s, loses no call and runs none twice`,
  {
    timeout: 300_000,
  },
  async ({ what, handling, play }, { skip }) => {
    if (whyNot !== undefined) skip(whyNot);
    await using cluster = await startBrokerCluster({ partitionHandling: handling });
    await using scene = await openScene(cluster.url, { redisUrl });
    await using _one = await startEffectService(scene.service);
    await using _other = await startEffectService(scene.service);
    await using load = await startLoad(scene, {
      perSecond: PER_SECOND,
      deadlineMs: DEADLINE_MS,
      kind: "effect",
      callers: 10,
    });
    await sleep(2_000); // the load runs undisturbed
    const recovered = await play(cluster);
    const listed = JSON.parse(
      (await cluster.nodes[0]?.ctl("list_queues", "name", "messages", "--formatter", "json")) ?? "",
    ) as readonly Held[];
    const retries = listed
      .filter(({ name }) => name.endsWith(".retry"))
      .reduce((sum, { messages }) => sum + messages, 0);

    const report: LedgerReport = await load.stop();
    const parts = recovered.map(([from, to]) => load.partAnswered(from, to));
    await record({
      fault: "F36",
      done: `${report.asked} calls at ${PER_SECOND}/s, ${what}`,
      figures: {
        ...summary(report),
        "part answered from 10 s on": Math.min(...parts).toFixed(4),
        "left to try again": retries,
      },
    });
    expect(brokenRules(report)).toEqual([]);
    expect(report.repeated).toEqual([]);
    expect(Object.keys(report.failed).filter((code) => !MAY_FAIL.includes(code))).toEqual([]);
    expect(parts.filter((part) => !(part >= MIN_PART_ANSWERED))).toEqual([]);
    expect(retries).toBe(0);
  },
);
