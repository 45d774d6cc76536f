import { sharedAmqpUrl, sharedRedisUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { countOutcomes, settleCall, tally } from "./agent/settle-calls.ts";
import { startEffectService } from "./effects/start-effect-service.ts";
import { record } from "./figures.ts";
import { openScene } from "./scene.ts";

/** Longer than the lease of a claim, and than the broker waits for a heartbeat. */
const BLOCK_MS = 14_000;
const [busUrl, redisUrl] = await Promise.all([sharedAmqpUrl(), sharedRedisUrl()]);

test("F13: a tool that blocks its whole process costs no call a second effect, and the other replica goes on", {
  timeout: 90_000,
}, async () => {
  await using scene = await openScene(busUrl, { redisUrl });
  const { caller, ledger } = scene;
  await using blocked = await startEffectService(scene.service);
  await caller.discovered();
  const blocking = settleCall(caller, scene.tool("effect"), { id: "blocks", blockMs: BLOCK_MS }, { timeoutMs: 40_000 });
  await expect.poll(async () => (await ledger.count("effect")).size, { timeout: 5_000 }).toBe(1);
  // These are with the process that is blocked, until the broker takes them back.
  const behind = Array.from({ length: 10 }, (_, index) =>
    settleCall(caller, scene.tool("effect"), { id: `behind-${index}` }, { timeoutMs: 40_000 }),
  );
  await using _other = await startEffectService(scene.service);
  const beside = Array.from({ length: 20 }, (_, index) =>
    settleCall(caller, scene.tool("repeat"), { id: `beside-${index}` }, { timeoutMs: 40_000 }),
  );
  const [one, ...others] = await Promise.all([blocking, ...behind, ...beside]);

  expect(["ok", "outcome_unknown"]).toContain(one?.outcome);
  expect(countOutcomes(others)).toEqual({ ok: others.length });
  const effects = await ledger.count("effect");
  expect([...effects].filter(([id, count]) => !id.startsWith("beside") && count !== 1)).toEqual([]);
  await record({
    fault: "F13",
    done: `a tool blocks its process for ${BLOCK_MS} ms, 10 calls behind it and 20 beside`,
    figures: {
      "it ends in": one?.outcome ?? "",
      ...tally(
        others.filter(({ id }) => !id.startsWith("beside")), // what may run twice may
        effects,
      ),
      "slowest ms": Math.round(Math.max(...others.map(({ ms }) => ms))),
    },
  });
  // It has outlived its block.
  await expect
    .poll(async () => (await scene.bus.inspect(scene.service.service))?.consumers, { timeout: 20_000 })
    .toBe(2);
  blocked.kill("SIGTERM");
  expect(await blocked.ended).toBe(0);
});
