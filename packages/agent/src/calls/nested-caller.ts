import { hash } from "node:crypto";
import type { CallOptions, ToolCaller, ToolContext } from "@rockbot/tools";

/**
 * A calling side for tools that make one call of another tool each. The id of that call follows from the id of theirs, so that a call which is made
 * again after a crash finds the one that was made before.
 */
export function nestedCaller(caller: ToolCaller): ToolCaller {
  const call: ToolCaller["call"] = (name, args, options = {}) => caller.call(name, args, { ...options, toolCallId: options.toolCallId ?? nestedId(options) });
  return Object.create(caller, { call: { value: call } }) as ToolCaller;
}

function nestedId({ parent }: CallOptions): string | undefined {
  const id = (parent as ToolContext | undefined)?.toolCallId;
  return id === undefined ? undefined : hash("sha256", JSON.stringify([id, "nested"]), "hex").slice(0, 32);
}
