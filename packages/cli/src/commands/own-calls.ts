import { setTimeout } from "node:timers/promises";
import { toolErrorFrom } from "@rockbot/contracts";
import { isCallId } from "@rockbot/gateway";
import { openOwnCalls } from "../client/calls/open-own-calls.ts";
import type { OwnCall, OwnCalls } from "../client/calls/own-calls.ts";
import { CommandError } from "../command-error.ts";
import { ExitCode } from "../exit-code.ts";
import { Interrupted } from "../interrupted.ts";
import { interruption } from "../terminal/interruption.ts";
import { plainText } from "../terminal/plain-text.ts";
import { printAnswer, printFailure } from "../terminal/print-answer.ts";
import { showProgress } from "../terminal/show-progress.ts";
import { UsageError } from "../usage-error.ts";

export interface OwnCallOptions {
  readonly bus?: string;
  readonly policy?: string;
  readonly redis?: string;
  readonly json?: boolean;
  readonly timeout?: string;
}

/** No call waits, or runs detached, for longer. */
const MAX_WAIT_MS = 24 * 3_600_000;
/** The time that a service has to end a call. */
const CANCEL_MS = 10_000;
/** The pauses between two looks: the first, and the longest. */
const FIRST_LOOK_MS = 100;
const LOOK_MS = 2_000;

/** `rockbot calls wait`: prints the end of a call of the user, once it is there. */
export async function waitForCall(toolCallId: string, options: OwnCallOptions): Promise<void> {
  const { timeout = String(MAX_WAIT_MS) } = options;
  const timeoutMs = /^\d{1,9}$/.test(timeout) ? Number(timeout) : 0;
  if (timeoutMs < 1 || timeoutMs > MAX_WAIT_MS)
    throw new UsageError([
      `--timeout: expected milliseconds, a whole number from 1 to ${MAX_WAIT_MS}, got ${JSON.stringify(timeout)}`,
    ]);
  await withCalls(toolCallId, options, async (calls, signal) =>
    printEnd(await waitFor(calls, toolCallId, { timeoutMs, signal }), options),
  );
}

/** `rockbot calls result`: the same, as it is now. */
export async function showResult(toolCallId: string, options: OwnCallOptions): Promise<void> {
  await withCalls(toolCallId, options, async (calls) => printEnd(await find(calls, toolCallId), options));
}

/** `rockbot calls cancel`: ends a call of the user, and waits until it has ended. */
export async function cancelCall(toolCallId: string, options: OwnCallOptions): Promise<void> {
  await withCalls(toolCallId, options, async (calls, signal) => {
    await find(calls, toolCallId);
    await calls.cancel(toolCallId);
    const call = await waitFor(calls, toolCallId, { timeoutMs: CANCEL_MS, signal });
    const { toolName, state, code } = call;
    if (options.json === true) console.log(JSON.stringify({ toolCallId, toolName, state, code }));
    console.error(
      isOver(call)
        ? plainText(`"${toolName}" has ended: ${code ?? state}`)
        : plainText(`"${toolName}" was told to end, and has not ended yet: rockbot calls wait ${toolCallId}`),
    );
    return isOver(call) ? ExitCode.Ok : ExitCode.Pending;
  });
}

async function withCalls(
  toolCallId: string,
  { bus, policy, redis }: OwnCallOptions,
  use: (calls: OwnCalls, signal: AbortSignal) => Promise<ExitCode>,
): Promise<void> {
  if (!isCallId(toolCallId))
    throw new UsageError([
      `the id: expected all 32 hex digits, as "rockbot call --detach" prints them, got ${JSON.stringify(toolCallId)}`,
    ]);
  using interrupted = interruption();
  const { signal, requested } = interrupted;
  await using calls = await openOwnCalls({ bus, policy, redis, requested, env: process.env });
  try {
    process.exitCode = await use(calls, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    console.error("rockbot: the call goes on");
    throw new Interrupted(await requested);
  }
}

async function find(calls: OwnCalls, toolCallId: string): Promise<OwnCall> {
  const call = await calls.find(toolCallId);
  if (call !== undefined) return call;
  throw new CommandError(
    `Cannot find the call ${toolCallId} in ${calls.where}: it is not one of yours, is older than a day, or its service has left`,
  );
}

/** The call once it has ended, or as it is at the end of the time. */
async function waitFor(
  calls: OwnCalls,
  toolCallId: string,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<OwnCall> {
  const until = performance.now() + timeoutMs;
  let said: string | undefined;
  using progress = showProgress(process.stderr);
  for (let lookMs = FIRST_LOOK_MS; ; lookMs = Math.min(LOOK_MS, 2 * lookMs)) {
    const call = await find(calls, toolCallId);
    const leftMs = until - performance.now();
    if (isOver(call) || leftMs <= 0) return call;
    const words = standing(call);
    if (words !== said) console.error(words);
    said = words;
    const update = call.progress?.at(-1);
    if (update !== undefined) progress.show(update);
    await setTimeout(Math.min(lookMs, leftMs), undefined, { signal });
  }
}

function printEnd(call: OwnCall, { json = false }: OwnCallOptions): ExitCode {
  const { toolCallId, toolName, result, error } = call;
  if (result !== undefined) return printAnswer({ ...result, toolCallId, toolName }, json);
  if (error !== undefined) return printFailure(toolErrorFrom(error), { toolCallId, toolName }, json);
  if (isOver(call))
    throw new CommandError(
      `"${toolName}" has ended (${call.code ?? call.state}), and its answer is not kept: rockbot calls show ${toolCallId} says what is known`,
    );
  if (json) console.log(JSON.stringify(call));
  console.error(standing(call));
  return ExitCode.Pending;
}

/** A call that has not ended is in one of these states. */
const open: ReadonlySet<string> = new Set(["asked", "accepted", "running", "waiting", "ready"]);

/** The word `pending` stands for a run that cannot be read here. */
const isOver = ({ state, code }: OwnCall): boolean => !open.has(state) && code !== "pending";

const standing = ({ toolName, state, code, waitsFor }: OwnCall): string =>
  plainText(
    `"${toolName}" ${waitsFor === undefined ? (code === "pending" ? "has no end that is known here" : `is ${state}`) : `waits for ${waitsFor}`}`,
  );
