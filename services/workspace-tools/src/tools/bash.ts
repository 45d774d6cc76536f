import { type ToolBashOutput, ToolError, ToolErrorCode, tools, visibleText } from "@rockbot/contracts";
import type { JobOutcome } from "@rockbot/sandbox";
import { defineTool, type Tool } from "@rockbot/tools";
import { Workspace } from "../files/workspace.ts";
import type { WorkspaceRoots } from "../files/workspace-roots.ts";
import type { Programs } from "../programs/programs.ts";
import { fromWorkspace } from "./from-workspace.ts";

export interface BashOptions {
  readonly roots: WorkspaceRoots;
  readonly programs: Programs;
  readonly maxTimeoutSeconds: number;
  /** The kept bytes of the output: a quarter from its beginning, the rest from its end. */
  readonly keepBytes: number;
}

const SECONDS = 120;
const SHELL = ["/bin/bash", "--noprofile", "--norc", "-c"];
/** The characters of the output so far that an update shows. */
const NEWS_CHARACTERS = 1_000;

/**
 * `bash`: what a command writes, from a new shell in a sandbox that sees the caller's roots. A command that fails is a
 * result with `isError`.
 */
export function bash({ roots, programs, maxTimeoutSeconds, keepBytes }: BashOptions): Tool {
  return defineTool(
    tools.bash,
    async ({ command, timeout_seconds = SECONDS }, { caller, signal, deadline, progress }) => {
      const workspace = new Workspace(roots, caller);
      if (command.includes("\0") || !command.isWellFormed()) {
        throw new ToolError(
          ToolErrorCode.InvalidArguments,
          "The command was not run: it has a character NUL, or half of a character, which cannot be passed to a program.",
        );
      }
      const seconds = Math.min(timeout_seconds, maxTimeoutSeconds);
      const headBytes = Math.floor(keepBytes / 4);
      let latest = "";
      const onOutput = (bytes: Buffer, isLater: boolean): void => {
        latest = (isLater ? bytes.toString() : latest + bytes.toString()).slice(-NEWS_CHARACTERS);
        progress({ message: visibleText(latest) });
      };
      const outcome = await programs.run({
        command: [...SHELL, command],
        workspace,
        mayWrite: true,
        hosts: roots.hostsOf(caller),
        timeoutMs: seconds * 1_000,
        isOneStream: true,
        keepBytes: headBytes,
        tailBytes: keepBytes - headBytes,
        onOutput,
        signal,
        deadline,
      });
      return { ...described(outcome), trust: fromWorkspace(workspace.roots.map(({ name }) => name).join(",")) };
    },
  );
}

function described(outcome: JobOutcome) {
  const { stdout, tail, droppedBytes, exitCode, signal, limit, timeoutMs, runMs } = outcome;
  const dropped = droppedBytes.stdout;
  const text = dropped === 0 ? stdout : `${stdout}\n\n[${dropped} bytes are left out here]\n\n${tail.stdout}`;
  const end = ending(outcome);
  const structured: ToolBashOutput = {
    text,
    exit_code: exitCode,
    signal,
    limit,
    duration_ms: Math.round(runMs),
    timeout_seconds: timeoutMs / 1_000,
    dropped_bytes: dropped,
  };
  const seen = visibleText(text).trimEnd();
  const content = end === undefined ? seen || "(It wrote nothing.)" : `${seen}${seen === "" ? "" : "\n\n"}(${end})`;
  return { content, structured, isError: end !== undefined };
}

/** Why it has not ended well; undefined if it has. */
function ending({ exitCode, signal, limit, timeoutMs }: JobOutcome): string | undefined {
  if (limit === "time")
    return `It was ended after ${timeoutMs / 1_000} s, as its time was over. Let it do less, or give it more timeout_seconds.`;
  if (limit === "memory") return "It was ended as it used more memory than it may.";
  if (limit === "processes") return "It was ended as it started more processes than it may.";
  if (exitCode === null) return `It was ended by ${signal ?? "a signal"}.`;
  return exitCode === 0 ? undefined : `Exit code ${exitCode}.`;
}
