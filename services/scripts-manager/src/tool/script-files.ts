import { ToolError, ToolErrorCode, type ToolExecutePythonScriptInput } from "@rockbot/contracts";
import { checkFileName, type FileInfo } from "@rockbot/records/files";
import type { GivenFile, ScriptFiles, ScriptRunner } from "@rockbot/sandbox";
import type { ToolCallContext } from "@rockbot/tools";
import { peek } from "./shown/peek.ts";
import { PNG_HEAD_BYTES, pngSize } from "./shown/png-size.ts";

/** A script leaves at most so many files. */
const MOST_LEFT = 32;
/** Names in the script's folder that are no files of its caller. */
const TAKEN: ReadonlySet<string> = new Set(["script.py", "out"]);

/** The size of a picture, in pixels. */
export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** The files of one script, and what became of those that it left. */
export interface FilesOfScript {
  readonly job: ScriptFiles;
  readonly left: FileInfo[];
  /** The sizes of the files that are PNG images by their bytes, by name. */
  readonly pictures: Map<string, PictureSize>;
  /** Files that could not be kept, each with the reason. */
  readonly refused: string[];
}

export interface FilesOfScriptOptions {
  readonly runner: Pick<ScriptRunner, "carriesFiles">;
  /** What the files of one script may have in all, each way. */
  readonly mostBytes: number;
  /** True if the script has read untrusted content by now. */
  readonly isUntrusted: () => boolean;
}

/**
 * Opens the files that a script gets, and keeps for its caller those that it leaves.
 * @returns undefined if neither the call names files nor any could be kept
 * @throws {ToolError} for files that the script cannot have
 */
export async function filesOfScript(
  { files_in }: ToolExecutePythonScriptInput,
  { files }: Pick<ToolCallContext, "files">,
  { runner, mostBytes, isUntrusted }: FilesOfScriptOptions,
): Promise<FilesOfScript | undefined> {
  const named = Object.entries(files_in ?? {}) as [string, string][];
  if (files === undefined || runner.carriesFiles !== true) {
    if (named.length === 0) return undefined;
    throw new ToolError(
      ToolErrorCode.Denied,
      "The script was not run: scripts cannot have files here. Leave files_in out, and give the data as input_data.",
      { details: { reason: "script_files" } },
    );
  }
  const given: GivenFile[] = [];
  for (const [name, handle] of named) {
    if (TAKEN.has(checkFileName(name)))
      throw new ToolError(
        ToolErrorCode.InvalidArguments,
        `The script was not run: no file of files_in can have the name "${name}". Give it another one.`,
        { details: { reason: "file_name" } },
      );
    const { facts, read } = await files.open(handle);
    given.push({ name, size: facts.size, read: () => read() });
  }
  const bytes = given.reduce((sum, { size }) => sum + size, 0);
  if (bytes > mostBytes)
    throw new ToolError(
      ToolErrorCode.TooLarge,
      `The script was not run: its files have ${bytes} bytes, and there is room for ${mostBytes}. Give it fewer or smaller ones.`,
      { details: { reason: "script_files" } },
    );
  const left: FileInfo[] = [];
  const refused: string[] = [];
  const pictures = new Map<string, PictureSize>();
  return {
    left,
    pictures,
    refused,
    job: {
      given,
      mostFiles: MOST_LEFT,
      mostBytes,
      async onFile(name, parts) {
        try {
          const { head, all } = await peek(parts, PNG_HEAD_BYTES);
          left.push(await files.leave({ name, bytes: all, isUntrusted: isUntrusted() }));
          const size = pngSize(head);
          if (size !== undefined) pictures.set(name, size);
        } catch (error) {
          refused.push(
            error instanceof ToolError ? error.message : `Cannot keep ${JSON.stringify(name)}: it did not come whole`,
          );
          throw error;
        }
      },
    },
  };
}
