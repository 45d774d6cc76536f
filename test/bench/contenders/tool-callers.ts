import type { Bus } from "@rockbot/bus";
import { createToolCaller } from "@rockbot/tools";
import type { Caller } from "../contender.ts";

/** One agent may have 256 calls without an answer; the bench has up to 512. */
const AGENTS = 2;

/** Calls a tool by agents of one process, over one bus, which it takes over. */
export async function connectToolCallers(bus: Bus, tool: string): Promise<Caller> {
  await using stack = new AsyncDisposableStack();
  stack.use(bus);
  const agents = await Promise.all(
    Array.from({ length: AGENTS }, async (_, index) => ({ caller: await createToolCaller(bus, { agent: `${tool.replaceAll("_", "-")}-${index}` }), calls: 0 })),
  );
  for (const { caller } of agents) {
    stack.use(caller);
    await caller.discovered();
  }
  const running = stack.move();
  return {
    async call(text) {
      const agent = agents.reduce((idlest, other) => (other.calls < idlest.calls ? other : idlest));
      agent.calls++;
      try {
        const { content } = await agent.caller.call(tool, { text });
        return content ?? "";
      } finally {
        agent.calls--;
      }
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
