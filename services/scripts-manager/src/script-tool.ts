import {
  ToolError,
  ToolErrorCode,
  type ToolExecutePythonScriptInput,
  type ToolExecutePythonScriptOutput,
  tools,
} from "@rockbot/contracts";
import { goesOn } from "@rockbot/sandbox";
import {
  defineTool,
  type ResumableCallContext,
  type Tool,
  type ToolCallContext,
  type ToolResult,
} from "@rockbot/tools";
import { lostScript } from "./calls/script-call-errors.ts";
import type { ScriptContext, ScriptSession, ScriptTools } from "./calls/script-session.ts";
import { runCell } from "./sessions/run-cell.ts";
import { noSessions } from "./sessions/script-session-errors.ts";
import type { ScriptSessions } from "./sessions/script-sessions.ts";
import { describeOutcome } from "./tool/describe-outcome.ts";
import { liveOutput } from "./tool/live-output.ts";
import { filesOfScript } from "./tool/script-files.ts";
import { checkSizes, install, jobIdOf, type RunParts, secondsFor } from "./tool/script-input.ts";
import { takeScriptSeconds } from "./tool/script-seconds.ts";
import { MAX_SHOWN_BYTES } from "./tool/shown/shown-by-script.ts";

export interface ScriptToolOptions extends RunParts {
  /** Keeps sessions of scripts. @default they can have none */
  readonly sessions?: ScriptSessions | undefined;
  /** Lets scripts call tools. @default they cannot */
  readonly scriptTools?: ScriptTools | undefined;
  /** Scripts run without a sandbox: then a policy has to name the tool in full. @default false */
  readonly isDangerous?: boolean | undefined;
}

/**
 * `execute_python_script`: what a script prints, from a sandbox of its own. A script that fails is a result with
 * `isError`, in words for the model; a ToolError is what is not the script's doing. Runs as long as it asks for, within
 * the bounds, and never past its call's deadline. What it asks for is kept for it while packages are installed, but for
 * half of its call's time.
 */
export function scriptTool({ scriptTools, sessions, isDangerous = false, ...parts }: ScriptToolOptions): Tool {
  const { runner } = parts;
  const definition = { ...tools.executePythonScript, dangerous: isDangerous };
  const cell = (input: ToolExecutePythonScriptInput, context: ResumableCallContext) => {
    if (sessions === undefined) throw noSessions();
    return runCell(input, context, { ...parts, sessions, scriptTools });
  };
  if (scriptTools === undefined)
    return defineTool(
      definition,
      async (input, context: ResumableCallContext) =>
        input.session == null ? await runScript(input, context, parts) : await cell(input, context),
      { isResumable: runner.isResumable },
    );
  return defineTool(
    definition,
    async (input, context: ScriptContext) => {
      if (input.session != null) return await cell(input, context);
      const session = await scriptTools.open(context);
      if (session !== undefined) {
        try {
          return await session.done(await runScript(input, context, { ...parts, session }));
        } catch (error) {
          return await session.failed(error);
        }
      }
      if (context.mayHaveBegun && !runner.isResumable) throw lostScript();
      return runScript(input, context, parts);
    },
    { isResumable: true, asks: true, dropHandle: (handle) => scriptTools.drop(handle) },
  );
}

interface RunScriptParts extends RunParts {
  readonly session?: ScriptSession | undefined;
}

async function runScript(
  input: ToolExecutePythonScriptInput,
  context: ToolCallContext & Pick<ScriptContext, "mayHaveBegun">,
  { runner, packages, rates, bounds, session }: RunScriptParts,
): Promise<ToolResult<ToolExecutePythonScriptOutput>> {
  checkSizes(input, bounds);
  const timeoutSeconds = secondsFor(input, bounds);
  const timeoutMs = timeoutSeconds * 1_000;
  const files = await filesOfScript(input, context, {
    runner,
    mostBytes: (bounds.storageMiB * 1024 ** 2) / 2,
    isUntrusted: () => session?.hasReadUntrusted === true,
  });
  const seconds = await takeScriptSeconds(rates, timeoutSeconds, context);
  let usedMs = 0;
  try {
    const layer = await install(input, packages, timeoutMs, context);
    const begun = performance.now();
    const job = {
      ...jobOf(context, session),
      script: input.script,
      input: input.input_data ?? undefined,
      timeoutMs,
      packages: layer,
      files: files?.job,
      messages: session?.messages,
      shownBytes: MAX_SHOWN_BYTES,
    };
    try {
      const { deadline, mayHaveBegun, progress } = context;
      // What it prints on its way back to where it was has been told before.
      const onOutput = liveOutput((update) => {
        if (session?.isCaughtUp !== false) progress(update);
      });
      const signal = session === undefined ? context.signal : AbortSignal.any([context.signal, session.stopped]);
      // One that calls tools is run again from its record, and never taken up.
      const outcome = await runner.run(job, {
        signal,
        deadline,
        mayHaveBegun: session === undefined && mayHaveBegun,
        onOutput,
      });
      usedMs = outcome.durations.runMs;
      const { maxTimeoutSeconds } = bounds;
      return describeOutcome(outcome, { timeoutMs, maxTimeoutSeconds, pinned: layer?.pinned ?? [], files });
    } catch (error) {
      if (!isNotStarted(error)) usedMs = performance.now() - begun;
      throw error;
    }
  } finally {
    if (!goesOn(runner, context.signal)) seconds.giveBack(timeoutSeconds - usedMs / 1_000); // else the process that takes it up does
  }
}

/** Each run of a script that calls tools is a job of its own. */
function jobOf(context: ToolCallContext, session: ScriptSession | undefined): { id: string; replaces?: string } {
  if (session === undefined) return { id: jobIdOf(context) };
  const { attempt } = session;
  return { id: jobIdOf(context, attempt), ...(attempt > 1 ? { replaces: jobIdOf(context, attempt - 1) } : {}) };
}

const isNotStarted = (error: unknown): boolean =>
  error instanceof ToolError && (error.code === ToolErrorCode.Overloaded || error.code === ToolErrorCode.Unavailable);
