import { sharedAmqpUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { tally, unharmed } from "./agent/settle-calls.ts";
import { agentReport, startAgent } from "./agent/start-agent.ts";
import { startEffectService } from "./effects/start-effect-service.ts";
import { atScale, record } from "./figures.ts";
import { openScene } from "./scene.ts";
import { spread } from "./spread.ts";

const CALLS = atScale(1_000, 10_000);
/** More would be calls that keep what they need no more; how much it is exactly is recorded. */
const MAX_MB = 300;
/**
 * What has just been made has 24 MB. Node's own choice is three to four times as much, which is filled before anything
 * is given back, however little lives.
 */
const NODE_ARGS = ["--max-semi-space-size=8"];
const busUrl = await sharedAmqpUrl();

test.each([{ agents: 1 }, { agents: 100 }])(
  `F26: ${CALLS} calls at once of $agents agents are all answered, once`,
  { timeout: 180_000 },
  async ({ agents }) => {
    await using scene = await openScene(busUrl);
    await using service = await startEffectService({ ...scene.service, concurrency: 128 }, NODE_ARGS);
    await using agent = startAgent(
      {
        busUrl,
        agent: `many-${scene.service.service}`,
        tool: scene.tool("effect"),
        prefix: "many",
        calls: CALLS,
        callers: agents,
        maxCallsInFlight: CALLS / agents,
      },
      NODE_ARGS,
    );
    const { settled, ms, peakMb } = await agentReport(agent);
    const ended = tally(settled, await scene.ledger.count("effect"));
    service.kill("SIGTERM");
    expect(await service.ended, service.stderr()).toBe(0);
    const serviceMb = Number(/(\d+) MB/.exec(service.stdout())?.[1]);
    await record({
      fault: "F26",
      done: `${CALLS} calls at once of ${agents} agents in one process, under node ${NODE_ARGS.join(" ")}`,
      figures: {
        ...ended,
        "calls/s": Math.round((1_000 * CALLS) / ms),
        ...spread(
          "call",
          settled.map((call) => call.ms),
        ),
        "agents' process MB": peakMb,
        "service's MB": serviceMb,
      },
    });
    expect(ended).toEqual(unharmed({ ok: CALLS }));
    expect(Math.max(peakMb, serviceMb)).toBeLessThanOrEqual(MAX_MB);
  },
);
