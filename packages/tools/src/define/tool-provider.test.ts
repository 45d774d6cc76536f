import { type Bus, createMemoryBus } from "@rockbot/bus";
import { ToolError } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { createToolCaller } from "../call/tool-caller.ts";
import { serveTools } from "../serve/serve-tools.ts";
import { testTool } from "../test-tools.ts";
import type { Tool } from "./define-tool.ts";
import type { ToolProvider } from "./tool-provider.ts";

test("tools that come and go at their provider come and go at callers", async () => {
  await using bus = createMemoryBus();
  const provider = testProvider();
  await using _ = await serveTools(bus, provider, { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "someone" });
  await caller.discovered();
  const names = () => caller.tools.getTools().flatMap(({ name, source }) => (source === "tests" ? [name] : []));
  expect(names()).toEqual([]);

  provider.set(
    testTool("first", async () => "1"),
    testTool("second", async () => "2"),
  );
  await expect.poll(names).toEqual(["first", "second"]);
  expect(await caller.call("first", {})).toMatchObject({ content: "1" });

  provider.set(testTool("second", async () => "other"));
  await expect.poll(names).toEqual(["second"]);
  expect(await caller.call("second", {})).toMatchObject({ content: "other" });
  await expect(caller.call("first", {})).rejects.toMatchObject({ code: "unavailable" });
});

test("a provider that refuses a request gives the answer to it", async () => {
  await using bus = createMemoryBus();
  const provider = testProvider();
  const tool = testTool("shy", async () => "never");
  provider.set(tool);
  provider.find = () => {
    throw new ToolError("denied", "not today");
  };
  await using _ = await serveTools(bus, provider, { service: "tests" });
  await using caller = await createToolCaller(bus, { agent: "someone" });
  await expect(caller.call("shy", {})).rejects.toMatchObject({ code: "denied", message: "not today" });
});

test.each([
  [false, "unavailable"],
  [true, "outcome_unknown"],
])(
  "what a provider cannot have now is said not to have run only if nobody got the call before (again: %s)",
  async (isRedelivered, code) => {
    await using bus = createMemoryBus();
    const again: Bus = {
      ...bus,
      isReady: true,
      isBlocked: false,
      publish: (...args) => bus.publish(...args),
      inspect: (name) => bus.inspect(name),
      subscribe: (options, handle) =>
        bus.subscribe(options, (message, delivery) => handle(message, { ...delivery, isRedelivered })),
      [Symbol.asyncDispose]: async () => {},
    };
    const provider = testProvider();
    provider.set(testTool("away", async () => "never"));
    provider.find = () => {
      throw new ToolError("unavailable", "Nothing was run.");
    };
    await using _ = await serveTools(again, provider, { service: "tests" });
    await using caller = await createToolCaller(bus, { agent: "someone" });
    await caller.discovered();
    await expect(caller.call("away", {})).rejects.toMatchObject({ code });
  },
);

function testProvider() {
  const listeners = new Set<() => void>();
  const provider = {
    tools: [] as readonly Tool[],
    guides: [],
    find: (name: string) => provider.tools.find(({ definition }) => definition.name === name),
    onChange(listener: () => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    set(...tools: readonly Tool[]) {
      provider.tools = tools;
      for (const listener of listeners) listener();
    },
  };
  return provider satisfies ToolProvider;
}
