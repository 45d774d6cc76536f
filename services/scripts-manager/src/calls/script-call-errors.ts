import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { ScriptCall } from "./script-record.ts";

const done = (effects: readonly string[]): string =>
  effects.length === 0
    ? "It has called no tool with effects."
    : `These tools with effects were called: ${effects.join(", ")}.`;

/** A script that was run again, and asked for something else than before. */
export function differs(
  { path, tool }: Pick<ScriptCall, "path" | "tool">,
  before: string,
  effects: readonly string[],
): ToolError {
  const what = before === tool ? `"${tool}" with other arguments` : `"${tool}" instead of "${before}"`;
  return new ToolError(
    ToolErrorCode.ExecutionFailed,
    `The script was cut off and run again, and then called ${what} at place ${path}. Nothing further was called. ${done(effects)} Find out what is done, and write the rest as a new script. A script that calls tools must do the same each time: use rockbot.started_at for the time, random without a seed of your own, and sorted() for sets.`,
    { details: { reason: "script_differs", effects, mayHaveRun: true } },
  );
}

/** A script that was run again, and ended without a call that it had made before. */
export function misses({ path, tool }: Pick<ScriptCall, "path" | "tool">, effects: readonly string[]): ToolError {
  return new ToolError(
    ToolErrorCode.ExecutionFailed,
    `The script was cut off and run again, and then ended without its call of "${tool}" at place ${path}. ${done(effects)} Find out what is done, and write the rest as a new script.`,
    { details: { reason: "script_differs", effects, mayHaveRun: true } },
  );
}

export const noMoreCalls = (most: number): ToolError =>
  new ToolError(ToolErrorCode.ExecutionFailed, `The script was ended: it went on calling after its ${most} calls.`, {
    details: { reason: "script_calls" },
  });

export const tooManyCalls = (most: number): ToolError =>
  new ToolError(
    ToolErrorCode.RateLimited,
    `Not called: a script makes at most ${most} calls. Do the rest in another script.`,
    { isRetryable: false, details: { reason: "script_calls", mayHaveRun: false } },
  );

/** A call must be on record before the script may see its answer. */
export const notRecorded = (cause: Error, effects: readonly string[]): ToolError =>
  new ToolError(
    ToolErrorCode.ExecutionFailed,
    `The script was ended: its calls cannot be recorded (${cause.message}). ${done(effects)}`,
    { cause, details: { reason: "script_record", effects, mayHaveRun: true } },
  );

/** An error that ends a script names its effects: a caller who does not know them makes them again. */
export function withEffects(error: ToolError, effects: readonly string[]): ToolError {
  if (effects.length === 0 || error.details?.["effects"] !== undefined) return error;
  return new ToolError(error.code, `${error.message.replace(/\.?$/, ".")} ${done(effects)}`, {
    cause: error,
    isRetryable: false,
    trust: error.trust,
    details: { ...error.details, effects, mayHaveRun: true },
  });
}

/** A script of which nobody knows how far it came. */
export const lostScript = (): ToolError =>
  new ToolError(
    ToolErrorCode.OutcomeUnknown,
    "The script was begun by a service that is gone, and its outcome is lost. It had called no tool, so it may be called again.",
    { details: { mayHaveRun: true } },
  );

/** The manager has no rights to call tools, or no broker. */
export const notCalling = (cause: unknown): ToolError =>
  new ToolError(
    ToolErrorCode.Unavailable,
    "The script was not run: the policy lets it call tools, and this service cannot call any now. Try again later. The operator sees to it that the broker has the rights of the policy.",
    { cause },
  );

/** A cell's call that waits for people: nothing keeps a session meanwhile. */
export const callWaits = (tool: string): ToolError =>
  new ToolError(
    ToolErrorCode.Unavailable,
    `The call of "${tool}" waits for people, and a session keeps no call that waits: it was given up. Call the tool without a session.`,
    { isRetryable: false, details: { reason: "script_waits" } }, // somebody may just have approved it
  );
