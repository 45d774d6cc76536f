import { connectBus } from "@rockbot/bus-rabbitmq";
import { sharedAmqpUrl, sharedRedisUrl } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { uniqueName } from "../broker/messages.ts";
import { startProgram, untilReady } from "./start-service.ts";

test("a service that is built as CONTRIBUTING says shares its claims: a call asked again of another instance has its effect once", {
  timeout: 90_000,
}, async () => {
  const [BUS_URL, REDIS_URL] = await Promise.all([sharedAmqpUrl(), sharedRedisUrl()]);
  const name = uniqueName();
  const start = () => untilReady(name, startProgram("test/services/recipe-service.ts", { args: [name], env: { BUS_URL, REDIS_URL } }), '"msg":"ready"');
  await using bus = await connectBus(BUS_URL, { name: "recipe" });
  await using caller = await createToolCaller(bus, { agent: "recipe" });
  const call = () => caller.call(name, { id: "one" }, { toolCallId: `call-${name}`, timeoutMs: 30_000 });
  await using first = await start();
  await caller.discovered();

  expect((await call()).content).toBe("one");
  expect(first.stdout()).toContain("effect one");
  first.kill("SIGKILL");
  await first.ended;
  await using second = await start();
  expect((await call()).content).toBe("one");
  expect(second.stdout()).not.toContain("effect");
});
