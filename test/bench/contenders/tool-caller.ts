import type { Bus } from "@rockbot/bus";
import type { ToolInvokeResponse } from "@rockbot/contracts";
import { createPolicy, holdPolicy, type PolicyHolder, readPolicy } from "@rockbot/policy";
import { createToolCaller, type ToolCallerOptions } from "@rockbot/tools";
import { type Caller, MAX_CALLS_OUT } from "../contender.ts";
import type { Payload } from "../payload.ts";

/**
 * Lets one agent have as many calls without an answer as the bench has at most, like the callers of the other
 * contenders, and call as often as it can: by default it is 256, and 20 000 a second.
 */
export async function benchPolicy(): Promise<PolicyHolder> {
  return holdPolicy(
    createPolicy(
      await readPolicy(
        `everyone: { allow: ['*'], limits: { inFlight: ${MAX_CALLS_OUT}, messages: { invoke: { perSecond: 1e6, bytesPerSecond: 1e12 } } } }`,
        "of the bench",
      ),
    ),
  );
}

/** Calls a tool by one agent over a bus, which it takes over. */
export async function connectToolCaller(
  bus: Bus,
  tool: string,
  options: Partial<ToolCallerOptions> = {},
): Promise<Caller> {
  await using stack = new AsyncDisposableStack();
  stack.use(bus);
  const caller = stack.use(
    await createToolCaller(bus, { agent: tool.replaceAll("_", "-"), maxCallsInFlight: MAX_CALLS_OUT, ...options }),
  );
  await caller.discovered();
  const running = stack.move();
  return {
    call: async (payload) => payloadOf(await caller.call(tool, payload)),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** What the tool gave back. */
export const payloadOf = ({ content, structured }: Pick<ToolInvokeResponse, "content" | "structured">): Payload =>
  (structured as Payload | null | undefined) ?? { text: content ?? "" };
