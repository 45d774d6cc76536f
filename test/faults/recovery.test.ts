import { setTimeout as sleep } from "node:timers/promises";
import { sharedRedisUrl, startOwnBroker } from "@rockbot/testing";
import { expect, test } from "vitest";
import { tally, unharmed } from "./agent/settle-calls.ts";
import { agentReport, startAgent } from "./agent/start-agent.ts";
import { startEffectService } from "./effects/start-effect-service.ts";
import { atScale, record } from "./figures.ts";
import { openScene } from "./scene.ts";
import { spread } from "./spread.ts";

const AGENTS = 10;
const KILLS = atScale(1, 5);
/** The calls of each agent; the soak's answers come soon after they can. */
const PER_SECOND = atScale(3, 10);
/** A slow machine's broker is away for long: no call is to end for that, so that the next shows when it is back. */
const TIMEOUT_MS = 120_000;
const MAX_CALLS_IN_FLIGHT = 2_000;
/** The part of the calls that may be refused; a quiet machine refuses none. */
const MAX_PART_REFUSED = 0.1;
const redisUrl = await sharedRedisUrl();

test(`each of ${AGENTS} agents in processes of their own has answers again soon after a killed broker accepts connections: ${KILLS} times`, {
  timeout: 120_000 + 60_000 * KILLS,
}, async () => {
  await using broker = await startOwnBroker();
  await using scene = await openScene(broker.url, { redisUrl });
  const { ledger, service } = scene;
  await using _one = await startEffectService(service);
  await using _other = await startEffectService(service);
  await using stack = new AsyncDisposableStack();
  const prefixes = Array.from({ length: AGENTS }, (_, index) => `agent${index}`);
  const agents = prefixes.map((prefix) =>
    stack.use(
      startAgent({
        busUrl: broker.url,
        agent: `${prefix}-${service.service}`,
        tool: scene.tool("effect"),
        prefix,
        perSecond: PER_SECOND,
        timeoutMs: TIMEOUT_MS,
        maxCallsInFlight: MAX_CALLS_IN_FLIGHT,
        ledger: ledger.path,
      }),
    ),
  );
  /** When each agent had its first answer since, in Unix milliseconds. */
  const firstAnswers = async (since: number): Promise<number[]> => {
    const received = [...(await ledger.times("received"))].filter(([, at]) => at > since);
    return prefixes.flatMap((prefix) => {
      const times = received.filter(([id]) => id.startsWith(`${prefix}-`)).map(([, at]) => at);
      return times.length === 0 ? [] : [Math.min(...times)];
    });
  };
  const untilAllAnswered = (since: number) =>
    expect.poll(async () => (await firstAnswers(since)).length, { timeout: 60_000, interval: 100 }).toBe(AGENTS);
  await untilAllAnswered(0);
  const recoveries: number[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    await sleep(1_000); // the load runs undisturbed
    await broker.kill();
    await broker.restart();
    const accepting = Date.now(); // the clock that the ledger's times are of
    await untilAllAnswered(accepting);
    recoveries.push(...(await firstAnswers(accepting)).map((at) => at - accepting));
  }
  for (const agent of agents) agent.kill("SIGTERM");
  const settled = (await Promise.all(agents.map(agentReport))).flatMap((report) => report.settled);
  const effects = await ledger.count("effect");
  const ended = tally(settled, effects);
  await record({
    fault: "recovery",
    done: `${settled.length} calls of ${AGENTS} agents in processes of their own over ${KILLS} kills of the broker`,
    figures: {
      ...ended,
      ...spread("an agent's first answer after the port opens", recoveries),
      "slowest ms": Math.max(...recoveries),
    },
  });
  // Redis has to answer in half a second, which it may miss on a machine with much else to do: then a call is refused
  // before it starts.
  const refused = settled.filter(({ outcome }) => outcome === "unavailable");
  expect(refused.filter(({ id }) => effects.has(id))).toEqual([]);
  expect(refused.length).toBeLessThanOrEqual(settled.length * MAX_PART_REFUSED);
  expect(ended).toEqual(
    unharmed({ ok: settled.length - refused.length, ...(refused.length === 0 ? {} : { unavailable: refused.length }) }),
  );
});
