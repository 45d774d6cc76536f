import { type Bus, createMemoryBus } from "@rockbot/bus";
import type { ToolError } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { createToolCaller, type ToolCaller } from "../call/tool-caller.ts";
import type { ToolProvider } from "../define/tool-provider.ts";
import { serveTools } from "../serve/serve-tools.ts";
import { testSet, testTool } from "../test-tools.ts";

const SERVICES = 10;
const TOOLS_OF_EACH = 100;
const AGENTS = 100;
/** About what an announced tool has. */
const description = "Says what it is for, what it takes and what it gives. ".repeat(16);

/** A bus that counts what of announcements reaches those who listen. */
function countingBus(bus: Bus) {
  let bytes = 0;
  const counting = new Proxy(bus, {
    get(target, name) {
      if (name !== "subscribe") {
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      }
      const subscribe: Bus["subscribe"] = (options, handler) =>
        bus.subscribe(options, (message, delivery) => {
          if (/ToolAnnounc|ToolHeartbeat|ToolListChange/.test(message.type)) bytes += message.body.byteLength;
          return handler(message, delivery);
        });
      return subscribe;
    },
  });
  return {
    bus: counting,
    /** What was counted since the last time. */
    count() {
      const counted = bytes;
      bytes = 0;
      return counted;
    },
  };
}

const toolsOf = (service: number, changed = "") =>
  Array.from({ length: TOOLS_OF_EACH }, (_, n) =>
    testTool(`tool_${service}_${n}`, async () => "fine", {
      description: n === 0 ? description + changed : description,
    }),
  );

function changing(service: number): ToolProvider & { change(): void } {
  let tools = toolsOf(service);
  const listeners = new Set<() => void>();
  return {
    get tools() {
      return tools;
    },
    guides: testSet().guides,
    find: () => undefined,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    change() {
      tools = toolsOf(service, "And more.");
      for (const listener of listeners) listener();
    },
  };
}

const listed = (caller: ToolCaller): number =>
  caller.tools.getTools().filter(({ name }) => name.startsWith("tool_")).length;

test(`what ${SERVICES * TOOLS_OF_EACH} tools and ${AGENTS} agents say to find each other stays small`, {
  timeout: 60_000,
}, async () => {
  await using memory = createMemoryBus();
  const { bus, count } = countingBus(memory);
  await using stack = new AsyncDisposableStack();
  const first = changing(0);
  for (let service = 0; service < SERVICES; service++)
    stack.use(
      await serveTools(bus, service === 0 ? first : testSet(...toolsOf(service)), { service: `service-${service}` }),
    );
  const agents: ToolCaller[] = [];
  const start = async () => {
    const agent = stack.use(await createToolCaller(bus, { agent: `agent-${agents.length}` }));
    agents.push(agent);
    await agent.discovered();
  };
  await start();
  const [agent] = agents as [ToolCaller];
  await expect.poll(() => listed(agent), { timeout: 20_000 }).toBe(SERVICES * TOOLS_OF_EACH);
  const list = JSON.stringify(agent.tools.getTools()).length;
  while (agents.length < AGENTS) await Promise.all(Array.from({ length: 11 }, start));
  await expect
    .poll(() => agents.every((each) => listed(each) === SERVICES * TOOLS_OF_EACH), { timeout: 20_000 })
    .toBe(true);
  const figures: Record<string, number> = {};
  /** Beside the heartbeats of a second, which come whatever happens. */
  async function cost(what: string, act: () => Promise<unknown>): Promise<void> {
    await expect.poll(() => count() < list / 2, { timeout: 20_000, interval: 200 }).toBe(true); // what was asked for before has come
    await act();
    figures[what] = count();
  }
  await cost("a call of a name that nobody has", async () => {
    expect(await agent.call("no_such_tool", {}).catch((error: ToolError) => error)).toMatchObject({
      code: "tool_not_found",
    });
  });
  await cost("a new agent", async () => {
    await start();
    await expect.poll(() => listed(agents.at(-1) as ToolCaller), { timeout: 20_000 }).toBe(SERVICES * TOOLS_OF_EACH);
  });
  await cost("a tool that changes", async () => {
    first.change();
    await expect
      .poll(
        () => agents.every(({ tools }) => tools.getTools().some(({ description: said }) => said.endsWith("And more."))),
        { timeout: 20_000 },
      )
      .toBe(true);
  });
  const heartbeats = 3 * SERVICES * AGENTS * 300;
  expect(figures["a call of a name that nobody has"]).toBeLessThan(heartbeats);
  expect(figures["a new agent"]).toBeLessThan(2 * list + heartbeats);
  expect(figures["a tool that changes"]).toBeLessThan(AGENTS * 2 * (description.length + 1_000) + heartbeats);
});
