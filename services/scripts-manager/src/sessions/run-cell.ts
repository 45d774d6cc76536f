import { unlessAborted } from "@rockbot/base";
import {
  type ContentTrust,
  saidBy,
  ToolError,
  ToolErrorCode,
  type ToolExecutePythonScriptInput,
  type ToolExecutePythonScriptOutput,
} from "@rockbot/contracts";
import {
  type CellOutcome,
  type Interpreter,
  openInterpreter,
  ScriptLimit,
  type ScriptMessages,
} from "@rockbot/sandbox";
import type { ResumableCallContext, ToolResult } from "@rockbot/tools";
import { withEffects } from "../calls/script-call-errors.ts";
import type { CellCalls, ScriptTools } from "../calls/script-session.ts";
import { describeOutcome } from "../tool/describe-outcome.ts";
import { liveOutput } from "../tool/live-output.ts";
import { filesOfScript } from "../tool/script-files.ts";
import { checkSizes, install, jobIdOf, type RunParts, secondsFor } from "../tool/script-input.ts";
import { takeScriptSeconds } from "../tool/script-seconds.ts";
import { MAX_SHOWN_BYTES } from "../tool/shown/shown-by-script.ts";
import { lostCell } from "./script-session-errors.ts";
import type { ScriptSessions, Session } from "./script-sessions.ts";

export interface RunCellParts extends RunParts {
  readonly sessions: ScriptSessions;
  /** Lets cells call tools. @default they cannot */
  readonly scriptTools?: ScriptTools | undefined;
}

/** From a cell's time-out to its answer: the time to stop it, or a quarter of what its call has left. */
const STOP_MS = 2_500;
const LEAST_MS = 100;
/** A session ends by its own clock, and only then by that of its sandbox. */
const SPARE_MS = 60_000;

/** Runs the next cell of a session, which begins with its first. A cell is never run again. */
export async function runCell(
  input: ToolExecutePythonScriptInput,
  context: ResumableCallContext,
  parts: RunCellParts,
): Promise<ToolResult<ToolExecutePythonScriptOutput>> {
  const name = input.session ?? "";
  if (context.mayHaveBegun === true) throw lostCell(name);
  checkSizes(input, parts.bounds);
  const session = await parts.sessions.take(context.caller, name);
  try {
    session.checkPackages(input.pip_packages ?? []);
    if (context.hasReadUntrusted === true) session.trust ??= saidBy(`what the session ${name} was given`);
    const calls = await parts.scriptTools?.openCell(context, session);
    try {
      return await runIn(session, input, context, { ...parts, cell: calls });
    } catch (error) {
      throw error instanceof ToolError && calls !== undefined ? withEffects(error, calls.effects()) : error;
    } finally {
      await calls?.end();
      session.trust ??= calls?.calls.trust;
    }
  } finally {
    session.giveBack();
  }
}

async function runIn(
  session: Session,
  input: ToolExecutePythonScriptInput,
  context: ResumableCallContext,
  { cell, ...parts }: RunCellParts & { readonly cell: CellCalls | undefined },
): Promise<ToolResult<ToolExecutePythonScriptOutput>> {
  const { runner, rates, bounds } = parts;
  const trust = (): ContentTrust | undefined => session.trust ?? cell?.calls.trust;
  const timeoutSeconds = secondsFor(input, bounds);
  const files = await filesOfScript(input, context, {
    runner,
    mostBytes: (bounds.storageMiB * 1024 ** 2) / 2,
    isUntrusted: () => trust() !== undefined,
  });
  const seconds = await takeScriptSeconds(rates, timeoutSeconds, context);
  let begun: number | undefined;
  try {
    const isNew = session.interpreter === undefined;
    const arrived = performance.now();
    const opened = session.interpreter ?? (await begin(session, input, context, { ...parts, cell }));
    const waitMs = performance.now() - arrived;
    const leftMs = context.deadline - performance.now();
    const timeoutMs = Math.max(LEAST_MS, Math.min(timeoutSeconds * 1_000, leftMs - Math.min(STOP_MS, leftMs / 4)));
    session.begins(input.script);
    const begunAt = performance.now();
    begun = begunAt;
    const cellLeftMs = (): number => begunAt + timeoutMs - performance.now();
    session.onMessage = (message, { send }) => cell?.calls.onMessage(message, { send, leftMs: cellLeftMs });
    const outcome = await opened.run(
      {
        source: input.script,
        input: input.input_data ?? undefined,
        files: files?.job,
        shownBytes: MAX_SHOWN_BYTES,
        timeoutMs,
      },
      {
        signal: cell === undefined ? context.signal : AbortSignal.any([context.signal, cell.calls.stopped]),
        onOutput: liveOutput(context.progress),
      },
    );
    if (outcome.isLast) session.over(lastWords(outcome));
    const { content, ...result } = describeOutcome(
      { ...outcome, durations: { waitMs, runMs: outcome.runMs }, isWarm: !isNew },
      {
        timeoutMs: timeoutSeconds * 1_000,
        maxTimeoutSeconds: bounds.maxTimeoutSeconds,
        pinned: session.pinned,
        files,
        isCell: true,
      },
    );
    const facts = { name: session.name, cell: outcome.cell, is_new: isNew, is_over: outcome.isLast };
    return {
      ...result,
      content: content + notesOf(facts),
      structured: result.structured && { ...result.structured, session: facts },
      ...(trust() === undefined ? {} : { trust: trust() }),
    };
  } finally {
    session.onMessage = undefined;
    const usedMs = begun === undefined ? 0 : performance.now() - begun;
    seconds.giveBack(timeoutSeconds - usedMs / 1_000);
  }
}

/** Opens the interpreter of a session, for its first cell. */
async function begin(
  session: Session,
  input: ToolExecutePythonScriptInput,
  context: ResumableCallContext,
  { runner, packages, bounds, cell }: RunCellParts & { readonly cell: CellCalls | undefined },
): Promise<Interpreter> {
  const layer = await install(input, packages, secondsFor(input, bounds) * 1_000, context);
  const onMessage: ScriptMessages["onMessage"] = (message, port) => {
    if (session.onMessage === undefined) throw calledBetweenCells();
    session.onMessage(message, port);
  };
  const interpreter = openInterpreter(
    runner,
    {
      id: jobIdOf(context),
      packages: layer,
      messages: cell === undefined ? undefined : { module: cell.module, onMessage },
    },
    { signal: session.signal, lastsMs: session.lastsMs + SPARE_MS },
  );
  try {
    await unlessAborted(interpreter.started, context.signal);
  } catch (error) {
    await interpreter[Symbol.asyncDispose]();
    throw error;
  }
  session.hasModule = cell !== undefined;
  session.has(interpreter, input.pip_packages ?? [], layer?.pinned ?? []);
  return interpreter;
}

function lastWords({ cell, limit, exitCode, signal }: CellOutcome): string {
  if (limit === ScriptLimit.Time) return `its cell ${cell} did not stop when its time was over`;
  if (limit !== null)
    return `its cell ${cell} used more ${limit === ScriptLimit.Memory ? "memory" : "processes"} than it may`;
  return exitCode === null
    ? `its interpreter was ended by ${signal ?? "a signal"} in cell ${cell}`
    : `its cell ${cell} ended the interpreter with exit code ${exitCode}`;
}

function notesOf({ name, is_new, is_over }: NonNullable<ToolExecutePythonScriptOutput["session"]>): string {
  const begun = is_new ? `\n\n[The session "${name}" began with this cell.]` : "";
  const ended = is_over
    ? `\n\n[The session "${name}" ended with this cell. Its variables, imports and files are gone.]`
    : "";
  return begun + ended;
}

const calledBetweenCells = (): ToolError =>
  new ToolError(ToolErrorCode.ExecutionFailed, "it called a tool while no cell ran", {
    details: { reason: "script_messages" },
  });
