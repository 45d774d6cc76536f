import { type Bus, createMemoryBus } from "@rockbot/bus";
import { expect, test } from "vitest";
import { serveTools } from "../../serve/serve-tools.ts";
import { testSet, testTool } from "../../test-tools.ts";
import { createToolCaller } from "../tool-caller.ts";

/** The bus with some of its methods done otherwise. */
const withOther = (bus: Bus, other: Partial<Bus>): Bus =>
  new Proxy(bus, {
    get(target, name) {
      const value: unknown = Reflect.get(other, name) ?? Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });

async function startCalling() {
  await using stack = new AsyncDisposableStack();
  const bus = stack.use(createMemoryBus());
  const events: string[] = [];
  const said = Promise.withResolvers<void>();
  let isKilled = false;
  const asking: Partial<Bus> = {
    async inspect(...about) {
      if (about[0] === "shop") await said.promise;
      return bus.inspect(...about);
    },
  };
  const dying: Partial<Bus> = { publish: async (...sent) => (isKilled ? undefined : bus.publish(...sent)) };
  const tools = ["read", "write"].map((name) => {
    const run = async () => `${events.push(name)}`;
    return testTool(name, run, { readOnly: name === "read" });
  });
  const service = stack.use(await serveTools(withOther(bus, dying), testSet(...tools), { service: "shop" }));
  const caller = stack.use(await createToolCaller(withOther(bus, asking), { agent: "agent" }));
  await caller.discovered();
  const parts = stack.move();
  return {
    caller,
    events,
    /** Has the bus say from now on whether the service is there. */
    say() {
      events.push("said");
      said.resolve();
    },
    /** Ends the service, which cannot say so. */
    async kill() {
      isKilled = true;
      await service[Symbol.asyncDispose]();
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

test("a tool that only reads is called on its service's word, and another one once the bus says that it is there", async () => {
  await using calling = await startCalling();
  const write = calling.caller.call("write", {});
  await calling.caller.call("read", {});
  calling.say();
  await write;
  expect(calling.events).toEqual(["read", "said", "write"]);
});

test("calls of a service that was killed a moment ago end long before their deadlines", async () => {
  await using calling = await startCalling();
  calling.say();
  await calling.kill();
  const calls = ["read", "write"].map((name) => calling.caller.call(name, {}, { timeoutMs: 600_000 }));
  await Promise.all(
    calls.map((call) => expect(call).rejects.toMatchObject({ code: "unavailable", isRetryable: true })),
  );
});
