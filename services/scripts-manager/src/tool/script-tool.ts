import { createHash } from "node:crypto";
import {
  ToolError,
  ToolErrorCode,
  type ToolExecutePythonScriptInput,
  type ToolExecutePythonScriptOutput,
  tools,
} from "@rockbot/contracts";
import type { RateStore } from "@rockbot/records/rates";
import { goesOn, type PackageLayer, type ScriptRunner } from "@rockbot/sandbox";
import { defineTool, type Tool, type ToolCallContext, type ToolResult } from "@rockbot/tools";
import { lostScript } from "../calls/script-call-errors.ts";
import type { ScriptContext, ScriptSession, ScriptTools } from "../calls/script-session.ts";
import { describeOutcome } from "./describe-outcome.ts";
import { liveOutput } from "./live-output.ts";
import { filesOfScript } from "./script-files.ts";
import { takeScriptSeconds } from "./script-seconds.ts";
import { secondsOf } from "./seconds-of.ts";
import { MAX_SHOWN_BYTES } from "./shown-by-script.ts";

/** What one script may ask for. */
export interface ScriptBounds {
  readonly maxTimeoutSeconds: number;
  /** The bound for the script's source. */
  readonly maxScriptBytes: number;
  readonly maxInputBytes: number;
  /** The size of a script's folder. */
  readonly storageMiB: number;
}

/** Installs what scripts ask for; see `src/packages`. */
export interface ScriptPackages {
  /**
   * @param until when a layer is of no use any more, on the clock of `performance.now()`
   * @throws {ToolError} that says which packages are missing, and why
   */
  ensure(
    requirements: readonly string[],
    options: { readonly signal: AbortSignal; readonly until: number },
  ): Promise<PackageLayer>;
}

export interface ScriptToolOptions {
  readonly runner: ScriptRunner;
  /** @default scripts get none */
  readonly packages?: ScriptPackages | undefined;
  /** Counts the seconds that callers' scripts run, where the policy limits them. */
  readonly rates: RateStore;
  readonly bounds: ScriptBounds;
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
export function scriptTool({ scriptTools, isDangerous = false, ...parts }: ScriptToolOptions): Tool {
  const { runner } = parts;
  const definition = { ...tools.executePythonScript, dangerous: isDangerous };
  if (scriptTools === undefined)
    return defineTool(definition, (input, context) => runScript(input, context, parts), {
      isResumable: runner.isResumable,
    });
  return defineTool(
    definition,
    async (input, context: ScriptContext) => {
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

interface RunScriptParts extends Pick<ScriptToolOptions, "runner" | "packages" | "rates" | "bounds"> {
  readonly session?: ScriptSession | undefined;
}

async function runScript(
  input: ToolExecutePythonScriptInput,
  context: ToolCallContext & Pick<ScriptContext, "mayHaveBegun">,
  { runner, packages, rates, bounds, session }: RunScriptParts,
): Promise<ToolResult<ToolExecutePythonScriptOutput>> {
  checkSizes(input, bounds);
  const timeoutSeconds = Math.min(Math.max(secondsOf(input.timeout_seconds), 1), bounds.maxTimeoutSeconds);
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

const jobIdOf = ({ caller, toolCallId }: ToolCallContext, ...attempt: readonly number[]): string =>
  createHash("sha256")
    .update(JSON.stringify([caller, toolCallId, ...attempt]))
    .digest("hex")
    .slice(0, 32);

const isNotStarted = (error: unknown): boolean =>
  error instanceof ToolError && (error.code === ToolErrorCode.Overloaded || error.code === ToolErrorCode.Unavailable);

function checkSizes(
  { script, input_data }: ToolExecutePythonScriptInput,
  { maxScriptBytes, maxInputBytes }: ScriptBounds,
): void {
  const faults = [
    ...tooLarge("script", script, maxScriptBytes),
    ...(input_data == null ? [] : tooLarge("input_data", input_data, maxInputBytes)),
  ];
  if (faults.length > 0)
    throw new ToolError(ToolErrorCode.TooLarge, `The script was not run: ${faults.join("; ")}. Send less.`);
}

function tooLarge(name: string, text: string, maxBytes: number): string[] {
  const bytes = Buffer.byteLength(text);
  return bytes > maxBytes ? [`${name} has ${bytes} bytes, at most ${maxBytes} are taken`] : [];
}

async function install(
  { pip_packages }: ToolExecutePythonScriptInput,
  packages: ScriptPackages | undefined,
  timeoutMs: number,
  { signal, deadline }: ToolCallContext,
): Promise<PackageLayer | undefined> {
  if (pip_packages == null || pip_packages.length === 0) return undefined;
  if (packages === undefined) {
    throw new ToolError(
      ToolErrorCode.Denied,
      "The script was not run: no packages can be installed here. Leave pip_packages out and do with what is there, which the guide `scripts` names, or ask the operator.",
      { details: { reason: "packages" } },
    );
  }
  return packages.ensure(pip_packages, {
    signal,
    until: deadline - Math.min(timeoutMs, (deadline - performance.now()) / 2),
  });
}
