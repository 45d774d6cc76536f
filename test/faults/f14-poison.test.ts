import { sharedAmqpUrl, sharedRedisUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { countOutcomes, settleCall } from "./agent/settle-calls.ts";
import { keepEffectService, startEffectService } from "./effects/start-effect-service.ts";
import { record } from "./figures.ts";
import { openScene } from "./scene.ts";

const INNOCENTS = 9;
const [busUrl, redisUrl] = await Promise.all([sharedAmqpUrl(), sharedRedisUrl()]);

test.concurrent.each(["read", "effect"] as const)(
  `F14: a %s call that kills its service each time is answered, and ${INNOCENTS} of ${INNOCENTS} innocents beside it succeed`,
  {
    timeout: 240_000,
  },
  async (kind) => {
    await using scene = await openScene(busUrl, { redisUrl });
    const { caller } = scene;
    await using service = await keepEffectService({ ...scene.service, concurrency: 10 });
    await caller.discovered();
    const timeoutMs = 180_000; // a slow machine takes seconds to start the service again, up to 13 times
    const poison = settleCall(caller, scene.tool(kind), { id: "poison", fate: "dies", holdMs: 30 }, { timeoutMs });
    // Read-only and idempotent: what has effects and is begun when its process dies has an unknown outcome, as it must.
    const innocents = Array.from({ length: INNOCENTS }, (_, index) =>
      settleCall(
        caller,
        scene.tool(index % 2 === 0 ? "read" : "repeat"),
        { id: `innocent-${index}`, holdMs: 200 },
        { timeoutMs },
      ),
    );
    const [ended, ...others] = await Promise.all([poison, ...innocents]);

    await record({
      fault: "F14",
      done: `a \`${kind}\` call that kills its service each time, ${INNOCENTS} innocents beside it`,
      figures: {
        "it ends in": ended?.outcome ?? "",
        deaths: service.deaths,
        "innocents ok": countOutcomes(others)["ok"] ?? 0,
        lost: countOutcomes([...others, ...(ended === undefined ? [] : [ended])])["lost"] ?? 0,
        late: others.filter(({ isLate }) => isLate).length,
        "slowest innocent ms": Math.round(Math.max(...others.map(({ ms }) => ms))),
      },
    });
    expect(countOutcomes(others)).toEqual({ ok: INNOCENTS });
    expect(ended?.outcome).toBe(kind === "effect" ? "outcome_unknown" : "execution_failed");
    expect(service.deaths).toBeLessThanOrEqual(kind === "effect" ? 1 : 15); // 10 allowed returns and the first delivery, then twice alone, and that again if it came twice
  },
);

test.concurrent("F14: a call whose tool throws is answered the first time, and once", { timeout: 30_000 }, async () => {
  await using scene = await openScene(busUrl, { redisUrl });
  await using _service = await startEffectService(scene.service);
  await scene.caller.discovered();
  const settled = await settleCall(
    scene.caller,
    scene.tool("effect"),
    { id: "throws", fate: "throws" },
    { timeoutMs: 10_000 },
  );
  expect(settled.outcome).toBe("execution_failed");
  expect(await scene.ledger.count("effect")).toEqual(new Map([["throws", 1]]));
});
