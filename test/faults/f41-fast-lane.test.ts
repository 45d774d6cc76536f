import { ownVirtualHost, sharedAmqpUrl, startOwnBroker, startTcpFaultProxy } from "@rockbot/testing";
import { expect, test } from "vitest";
import { openRawChannel } from "../broker/raw-channel.ts";
import { countOutcomes, type SettledCall, settleCall } from "./agent/settle-calls.ts";
import { keepEffectService, startEffectService } from "./effects/start-effect-service.ts";
import { openScene, type Scene } from "./scene.ts";

const CALLS = 20;
const WAIT = { timeout: 30_000, interval: 20 };
const busUrl = await sharedAmqpUrl();

/** Makes calls that are being run by the lane while something happens to them. */
async function underWay(
  { caller, ledger, tool }: Scene,
  holdMs: number,
  timeoutMs: number,
): Promise<{ readonly settled: Promise<SettledCall[]>; readonly lanes: () => Promise<unknown[]> }> {
  await caller.discovered();
  const ids = Array.from({ length: CALLS }, (_, index) => `call-${index}`);
  const settled = Promise.all(
    ids.map((id) => settleCall(caller, tool("read"), { id, holdMs }, { timeoutMs, toolCallId: id })),
  );
  await expect.poll(async () => (await ledger.count("effect")).size, WAIT).toBe(CALLS);
  return {
    settled,
    lanes: async () => {
      const records = await Promise.all(ids.map((id) => caller.journal.find(id)));
      return [...new Set(records.map((record) => record?.lane))];
    },
  };
}

test("F41: calls by the fast lane whose service is killed are answered once by the durable way, and one that kills it each time is given up", {
  timeout: 240_000,
}, async () => {
  await using scene = await openScene(busUrl);
  await using service = await keepEffectService({ ...scene.service, isFast: true, concurrency: CALLS + 1 });
  const calls = await underWay(scene, 2_000, 180_000);
  const poison = { id: "poison", fate: "dies", holdMs: 30 };
  const killing = await settleCall(scene.caller, scene.tool("read"), poison, {
    timeoutMs: 180_000,
    toolCallId: "poison",
  });
  expect(countOutcomes(await calls.settled)).toEqual({ ok: CALLS });
  expect(await calls.lanes()).toEqual(["fast_then_durable"]);
  expect(killing.outcome).toBe("execution_failed");
  expect(await scene.caller.journal.find("poison")).toMatchObject({ lane: "fast_then_durable" });
  expect(service.deaths).toBeLessThanOrEqual(17); // as by the durable way, and that by the lane
});

test("F41: calls by the fast lane outlive the connections of their caller", {
  timeout: 120_000,
}, async () => {
  await using proxy = await startTcpFaultProxy(busUrl);
  await using scene = await openScene(busUrl, { callerUrl: proxy.through(busUrl) });
  await using _service = await startEffectService({ ...scene.service, isFast: true, concurrency: CALLS });
  const calls = await underWay(scene, 1_000, 60_000);
  proxy.cutAll();
  expect(countOutcomes(await calls.settled)).toEqual({ ok: CALLS });
  expect(await calls.lanes()).not.toContain(undefined);
});

test("F41: calls by the fast lane outlive a kill of the broker, which forgets them", {
  timeout: 180_000,
}, async () => {
  await using broker = await startOwnBroker();
  await using scene = await openScene(broker.url);
  await using _service = await startEffectService({ ...scene.service, isFast: true, concurrency: CALLS });
  const calls = await underWay(scene, 5_000, 90_000); // longer than a kill takes on a busy machine
  await broker.kill();
  await broker.restart();
  expect(countOutcomes(await calls.settled)).toEqual({ ok: CALLS });
  expect(await calls.lanes()).not.toContain(undefined); // by the lane alone, or twice: it depends on who is back first
});

test("F41: what finds no room in the fast lane comes by the durable way, once, and so does all when the lane is gone", {
  timeout: 120_000,
}, async () => {
  await using host = await ownVirtualHost();
  await using scene = await openScene(host.url);
  await host.ctl("set_policy", "-p", host.name, "full", "fast$", '{"max-length":3}', "--apply-to", "queues");
  await using _service = await startEffectService({ ...scene.service, isFast: true, concurrency: 1 });
  await scene.caller.discovered();
  const ids = Array.from({ length: CALLS }, (_, index) => `full-${index}`);
  const call = (id: string) => settleCall(scene.caller, scene.tool("read"), { id, holdMs: 50 }, { timeoutMs: 60_000 });
  expect(countOutcomes(await Promise.all(ids.map(call)))).toEqual({ ok: CALLS });
  expect([...(await scene.ledger.count("effect")).values()]).toEqual(ids.map(() => 1));

  await using raw = await openRawChannel(host.url);
  await raw.channel.unbindQueue(
    `rockbot.${scene.service.service}.v1.fast`,
    "rockbot.fast",
    `tool.invoke.${scene.service.service}`,
  );
  const toolCallId = "unbound";
  expect(await settleCall(scene.caller, scene.tool("read"), { id: toolCallId }, { toolCallId })).toMatchObject({
    outcome: "ok",
  });
  expect(await scene.caller.journal.find(toolCallId)).toMatchObject({ lane: "fast_then_durable", state: "answered" });
});
