import type { ToolExecutePythonScriptOutput } from "@rockbot/contracts";
import { shownFile } from "@rockbot/records/files";
import { ScriptLimit, type ScriptOutcome } from "@rockbot/sandbox";
import type { ToolResult } from "@rockbot/tools";
import type { FilesOfScript } from "./script-files.ts";
import { shownByScript } from "./shown/shown-by-script.ts";

export interface DescribeOptions {
  /** What the script asked for, within the bounds. */
  readonly timeoutMs: number;
  readonly maxTimeoutSeconds: number;
  /** What was installed for it. */
  readonly pinned: readonly string[];
  /** @default it could leave none */
  readonly files?: Pick<FilesOfScript, "left" | "refused" | "pictures"> | undefined;
  /** It is a cell of a session. @default a script */
  readonly isCell?: boolean | undefined;
}

/** The words for the model show so many characters of the end of a failed script's stderr; `structured` has all. */
const SHOWN_STDERR = 4_000;
const SHOWN_STDOUT = 2_000;

/**
 * The result of a script that ran: what it printed, alone; of one that failed what went wrong, in words for the model.
 */
export function describeOutcome(
  outcome: ScriptOutcome,
  options: DescribeOptions,
): ToolResult<ToolExecutePythonScriptOutput> {
  const isError = outcome.limit !== null || outcome.exitCode !== 0;
  const content = isError
    ? describeFailure(outcome, options)
    : outcome.stdout === ""
      ? "(no output)"
      : outcome.stdout + dropped(outcome);
  return { content, structured: fieldsOf(outcome, options), isError };
}

function fieldsOf(outcome: ScriptOutcome, { pinned, files }: DescribeOptions): ToolExecutePythonScriptOutput {
  const { stdout, stderr, exitCode, signal, limit, timeoutMs, droppedBytes, durations, isWarm } = outcome;
  return {
    stdout,
    stderr,
    exit_code: exitCode,
    signal,
    limit,
    duration_ms: rounded(durations.runMs),
    wait_ms: rounded(durations.waitMs),
    timeout_seconds: rounded(timeoutMs / 1_000),
    truncated: droppedBytes.stdout + droppedBytes.stderr > 0,
    dropped_bytes: droppedBytes,
    is_warm: isWarm,
    pip_packages: [...pinned],
    ...(files === undefined ? {} : filesOf(outcome, files)),
    ...shownByScript(outcome, files),
  };
}

function filesOf({ passedFiles }: ScriptOutcome, { left, refused }: Pick<FilesOfScript, "left" | "refused">) {
  const passed =
    passedFiles === 0
      ? []
      : [`${passedFiles} of what lies in out/ was not taken: it is no file, or beyond the number or bytes that fit.`];
  const notes = [...refused, ...passed];
  return {
    files: left.map(shownFile),
    ...(notes.length === 0 ? {} : { file_notes: notes.slice(0, MAX_NOTES) }),
  };
}

const MAX_NOTES = 10;
const rounded = (value: number): number => Math.round(value * 1_000) / 1_000;

function describeFailure(outcome: ScriptOutcome, options: DescribeOptions): string {
  const { stdout, stderr } = outcome;
  return (
    [
      whatEnded(outcome, options),
      ...(stderr === "" ? [] : [section("stderr", stderr, SHOWN_STDERR)]),
      ...(stdout === "" ? [] : [section("stdout", stdout, SHOWN_STDOUT)]),
      ...(stderr === "" && stdout === "" ? ["It printed nothing."] : []),
    ].join("\n\n") + dropped(outcome)
  );
}

function whatEnded(
  { exitCode, signal, limit, timeoutMs, durations }: ScriptOutcome,
  { timeoutMs: asked, maxTimeoutSeconds, isCell = false }: DescribeOptions,
): string {
  const it = isCell ? "The cell" : "The script";
  switch (limit) {
    case ScriptLimit.Time:
      return timeoutMs < Math.floor(asked)
        ? `${it} timed out after ${rounded(timeoutMs / 1_000)} s and was ended: the deadline of its call left it no more. Let it do less, or give the call more time.`
        : `${it} timed out after ${rounded(timeoutMs / 1_000)} s and was ended. Let it do less, or give it more time: timeout_seconds up to ${maxTimeoutSeconds}, within the deadline of the call.`;
    case ScriptLimit.Memory:
      return `${it} was ended after ${rounded(durations.runMs / 1_000)} s: it used more memory than it may. Let it hold less at once, for example line by line.`;
    case ScriptLimit.Processes:
      return `${it} was ended: it started more processes or threads than it may. Let it do its work in one.`;
    case null:
      return exitCode === null
        ? `${it} was ended by ${signal ?? "a signal"}, as when it crashes inside native code. Change it before you call again.`
        : `${it} failed with exit code ${exitCode}. Correct it and call again.`;
  }
}

function section(name: string, text: string, shown: number): string {
  return text.length <= shown
    ? `${name}:\n${text.trimEnd()}`
    : `${name}, the last ${shown} characters of ${text.length}:\n${text.slice(-shown).trimEnd()}`;
}

function dropped({ droppedBytes: { stdout, stderr }, strangers }: ScriptOutcome): string {
  const unheard =
    strangers === 0
      ? ""
      : `\n\n[${strangers} messages of processes that the script had started were not taken: only its first process calls tools.]`;
  const parts = [
    ...(stdout > 0 ? [`${stdout} further bytes of stdout`] : []),
    ...(stderr > 0 ? [`${stderr} further bytes of stderr`] : []),
  ];
  return parts.length === 0
    ? unheard
    : `\n\n[${parts.join(" and ")} were printed and are not kept. Print less.]${unheard}`;
}
