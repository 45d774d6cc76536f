import type { Bus } from "@rockbot/bus";
import { createPolicy, holdPolicy, type PolicyHolder, readPolicy } from "@rockbot/policy";
import { createToolCaller } from "@rockbot/tools";
import { type Caller, PREFETCH } from "../contender.ts";

/** Lets one agent have as many calls without an answer as the bench has at most, like the callers of the other contenders: by default it is 256. */
export async function benchPolicy(): Promise<PolicyHolder> {
  return holdPolicy(createPolicy(await readPolicy(`everyone: { limits: { inFlight: ${PREFETCH} } }`, "of the bench")));
}

/** Calls a tool by one agent over a bus, which it takes over. */
export async function connectToolCaller(bus: Bus, tool: string): Promise<Caller> {
  await using stack = new AsyncDisposableStack();
  stack.use(bus);
  const caller = stack.use(await createToolCaller(bus, { agent: tool.replaceAll("_", "-"), maxCallsInFlight: PREFETCH }));
  await caller.discovered();
  const running = stack.move();
  return {
    async call(text) {
      const { content } = await caller.call(tool, { text });
      return content ?? "";
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
