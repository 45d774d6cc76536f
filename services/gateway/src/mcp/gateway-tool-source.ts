import type { Logger } from "@rockbot/bus";
import { Keep, newId } from "@rockbot/contracts";
import type { OfferedRuns, ToolSource } from "@rockbot/mcp/serve";
import { listTools, type ToolCaller } from "@rockbot/tools";
import { asToolError } from "../calls/as-tool-error.ts";
import { callIdOf } from "../calls/call-headers.ts";
import type { RunningKeys } from "../calls/running-keys.ts";
import type { RefusalLog } from "../door/refusal-log.ts";

export interface GatewayToolSourceOptions {
  /** When a call does not say how long it may take. */
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly keys: RunningKeys;
  /** Gets calls that are refused here. */
  readonly refusals: RefusalLog | undefined;
  /** The calls of a caller that go on without their requests. @default none are found again */
  readonly runsOf?: ((by: string | undefined) => OfferedRuns) | undefined;
  /** Aborts when the process stops and running calls are not waited for any longer. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/**
 * The tools that a caller may see and call through this gateway, in the form that MCP clients get. An undefined caller
 * stands for the gateway's own agent.
 */
export function gatewayToolSource(
  caller: ToolCaller,
  by: string | undefined,
  { timeoutMs: defaultMs, maxTimeoutMs, keys, refusals, runsOf, signal, log }: GatewayToolSourceOptions,
): ToolSource {
  const runs = runsOf?.(by);
  return {
    maxTimeoutMs,
    runs,
    async listTools() {
      await caller.discovered();
      return listTools(caller.toolsOf(by ?? caller.agent));
    },
    async findTool(name) {
      await caller.discovered();
      const found = caller.findTool(name, by ?? caller.agent);
      return found && listTools([found])[0];
    },
    getGuides: () => caller.getGuides(by),
    toolCallIdOf: (key) => (key === undefined ? newId() : callIdOf(key, by)),
    async call(name, args, { isKeyed, timeoutMs = Math.min(defaultMs, maxTimeoutMs), signal: cancelled, ...asked }) {
      const { toolCallId } = asked;
      const receivedAt = performance.now();
      let isSent = false;
      const onSent = () => {
        isSent = true;
      };
      // A call that goes on without its client is left for the next gateway, if there is a journal.
      const ends = cancelled === undefined ? undefined : AbortSignal.any([cancelled, signal]);
      const options = {
        ...asked,
        timeoutMs,
        keep: asked.keep ?? (isKeyed ? Keep.IfParked : undefined),
        onBehalfOf: by,
        keepAnswer: isKeyed,
        isSentAgain: isKeyed,
        signal: ends,
        onSent,
      };
      try {
        using _key = isKeyed ? keys.hold(toolCallId, name) : undefined;
        return await caller.call(name, args, options);
      } catch (error) {
        const toolError = asToolError(error, name, { caller, isSent, signal, log });
        if (!isSent)
          await refusals?.call({
            caller: by ?? caller.agent,
            toolName: name,
            toolCallId,
            args,
            error: toolError,
            receivedAt,
          });
        throw toolError;
      }
    },
  };
}
