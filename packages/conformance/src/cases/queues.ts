import { serviceQueues } from "@rockbot/bus-rabbitmq/queue-plan";
import { must } from "../breach.ts";
import type { Case } from "../case.ts";
import { ANSWER_MS } from "../examiner.ts";

/** The queues and exchanges that the service declares at the broker. */
export const queueCases: readonly Case[] = [
  {
    name: "the queues are there, with their types and arguments",
    clause: "queues",
    async run({ peer, options }) {
      const faults = await Promise.all(
        serviceQueues(options.service).map(async (queue) => {
          const fault = await peer.faultOf(queue);
          return fault === undefined ? [] : [`"${queue.name}": ${fault}`];
        }),
      );
      must(faults.flat().length === 0, `the broker says of the queues: ${faults.flat().join("; ")}`);
    },
  },
  {
    name: "the requests' queue and those of dead letters are consumed",
    clause: "consume",
    async run(examiner) {
      const { peer, options } = examiner;
      for (const { part, name } of serviceQueues(options.service)) {
        if (part === "parked" || part === "retry") continue;
        const isConsumed = await examiner.until(async () => ((await peer.look(name))?.consumers ?? 0) > 0, ANSWER_MS);
        must(isConsumed, `nobody consumes "${name}"`);
      }
    },
  },
];
