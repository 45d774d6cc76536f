import { ToolError, ToolErrorCode, type ToolSearchFilesOutput, tools, visibleText } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import { Workspace } from "../files/workspace.ts";
import { onOneLine } from "../files/workspace-path.ts";
import type { WorkspaceRoots } from "../files/workspace-roots.ts";
import { type Programs, WORKSPACE_FOLDER } from "../programs/programs.ts";
import { fromWorkspace } from "./from-workspace.ts";

export interface SearchFilesOptions {
  readonly roots: WorkspaceRoots;
  readonly programs: Programs;
  /** The program of ripgrep on this machine. */
  readonly ripgrep: string;
}

type Match = ToolSearchFilesOutput["matches"][number];

const LINES = 100;
/** The kept bytes of ripgrep's output, which says more of each line than what is kept of it. */
const KEEP_BYTES = 4 * 1024 * 1024;
const SECONDS = 60;
const LINE_CHARACTERS = 500;
const PROGRAM = "/tools/rg";
/** The exit code of ripgrep for no match. */
const NOTHING_FOUND = 1;

/**
 * `search_files`: lines that a regular expression finds, by ripgrep where only the caller's roots are mounted, for
 * reading.
 */
export function searchFiles({ roots, programs, ripgrep }: SearchFilesOptions): Tool {
  return defineTool(tools.searchFiles, async (input, { caller, signal, deadline }) => {
    const { pattern, path: text, glob, literal = false, ignore_case = false, hidden = false, limit = LINES } = input;
    const workspace = new Workspace(roots, caller);
    for (const [name, value] of Object.entries({ pattern, glob })) {
      if (value === undefined || (!value.includes("\0") && value.isWellFormed())) continue;
      throw new ToolError(
        ToolErrorCode.InvalidArguments,
        `Nothing was searched: ${name} has a character NUL, or half of a character.`,
      );
    }
    const where = text === undefined || text === "" ? undefined : workspace.path(text);
    if (where !== undefined) await workspace.check(where);
    // A symlink on the way leads ripgrep no further than the roots, as there is nothing else there to be led to.
    const places = where === undefined ? workspace.roots.map(({ name }) => name) : [where.text];
    const command = [
      // A root is seldom a repository of git itself, and the lines of a file end in CR LF as well as in LF.
      ...[PROGRAM, "--no-config", "--json", "--sort=path", "--threads=2", "--no-require-git", "--crlf"],
      ...(literal ? ["--fixed-strings"] : []),
      ...(ignore_case ? ["--ignore-case"] : []),
      ...(hidden ? ["--hidden", "--no-ignore"] : []),
      ...(glob === undefined ? [] : [`--glob=${glob}`]),
      ...[`--regexp=${pattern}`, "--", ...places.map((place) => `${WORKSPACE_FOLDER}/${place}`)],
    ];
    const outcome = await programs.run({
      command,
      workspace,
      mayWrite: false,
      tools: [{ outside: ripgrep, inside: PROGRAM, isWritable: false }],
      timeoutMs: SECONDS * 1_000,
      isOneStream: false,
      keepBytes: KEEP_BYTES,
      signal,
      deadline,
    });
    const found = matchesOf(outcome.stdout);
    const isOver = outcome.limit === null && (outcome.exitCode === 0 || outcome.exitCode === NOTHING_FOUND);
    if (!isOver && found.length === 0) throw failed(outcome.stderr, outcome.limit);
    const matches = found.slice(0, limit);
    const isCut = !isOver || found.length > limit || outcome.droppedBytes.stdout > 0;
    const lines = matches.map(({ path, line, text: seen }) => `${onOneLine(path)}:${line}:${seen}`);
    const note = isCut ? [`(There is more than this. Search for less: a longer pattern, a path or a glob.)`] : [];
    return {
      content: visibleText([...(lines.length === 0 ? ["(Nothing was found.)"] : lines), ...note].join("\n")),
      structured: { matches, is_cut: isCut },
      trust: fromWorkspace(places.join(",")),
    };
  });
}

/**
 * The lines that ripgrep has found, as it writes them; the last one may be cut off.
 * @see https://docs.rs/grep-printer/latest/grep_printer/struct.JSON.html
 */
function matchesOf(written: string): Match[] {
  return written.split("\n").flatMap((line): Match[] => {
    if (!line.startsWith('{"type":"match"')) return [];
    try {
      const { data } = JSON.parse(line) as { readonly data: Found };
      return [
        {
          path: textOf(data.path).slice(WORKSPACE_FOLDER.length + 1),
          line: data.line_number ?? 1,
          text: shortened(textOf(data.lines)),
        },
      ];
    } catch {
      return [];
    }
  });
}

interface Found {
  readonly path: Written;
  readonly lines: Written;
  readonly line_number: number | null;
}

/** What is no UTF-8 comes as base64. */
type Written = { readonly text: string } | { readonly bytes: string };

const textOf = (written: Written): string =>
  "text" in written ? written.text : Buffer.from(written.bytes, "base64").toString();

const shortened = (line: string): string => {
  const trimmed = line.replace(/\r?\n$/, "");
  return trimmed.length > LINE_CHARACTERS ? `${trimmed.slice(0, LINE_CHARACTERS)}…` : trimmed;
};

function failed(said: string, limit: string | null): ToolError {
  if (limit !== null)
    return new ToolError(
      ToolErrorCode.ExecutionFailed,
      `The search was ended by its limit of ${limit}. Search in a path, or with a glob.`,
    );
  const words = said.replaceAll(`${WORKSPACE_FOLDER}/`, "").trim().slice(0, 1_000);
  // What ripgrep says after it is about options of its own, which the caller does not have.
  const [fault = ""] = words.replace(/^rg: /, "").split("\n\n");
  if (/regex parse error|error parsing glob|not allowed in a regex|regex exceeds size limit/.test(fault))
    return new ToolError(
      ToolErrorCode.InvalidArguments,
      `Nothing was searched: the pattern or the glob cannot be used: ${fault}`,
    );
  return new ToolError(
    ToolErrorCode.ExecutionFailed,
    `The search has failed: ${words === "" ? "ripgrep says nothing of it" : words}`,
    {
      trust: words === "" ? undefined : fromWorkspace("ripgrep"),
    },
  );
}
