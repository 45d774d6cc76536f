import { ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import { Workspace } from "../files/workspace.ts";
import { shown } from "../files/workspace-path.ts";
import { changeFile, checkWellFormed, textOf } from "./change-file.ts";
import type { WriteFileOptions } from "./write-file.ts";

/** `edit_file`: one text of a file by another, where the file has it once. */
export function editFile({ roots, maxBytes }: WriteFileOptions): Tool {
  return defineTool(
    tools.editFile,
    async ({ path: text, old_text: before, new_text: after, replace_all: isAll = false }, { caller, signal }) => {
      const workspace = new Workspace(roots, caller);
      const path = workspace.path(text);
      checkWellFormed({ old_text: before, new_text: after });
      const edit = (content: Buffer | undefined): Buffer => {
        const whole = content === undefined ? undefined : textOf(content);
        if (content === undefined) throw refused(path.text, "there is no such file. Make it with write_file");
        if (whole === undefined) throw refused(path.text, "it is not UTF-8 text. Write it anew with write_file");
        const [old, fresh] = hasCrLfOnly(whole) ? [withCrLf(before), withCrLf(after)] : [before, after];
        const places = countOf(whole, old);
        if (places === 0) throw refused(path.text, absent(whole, before));
        if (places > 1 && !isAll) {
          throw refused(
            path.text,
            `the old text is in it ${places} times. Give more of what stands around the place, or set replace_all`,
          );
        }
        return Buffer.from(whole.split(old).join(fresh));
      };
      return await changeFile(workspace, path, edit, { maxBytes, isMade: false, signal });
    },
  );
}

/**
 * Readers of such a file see no CR, so what they write has none. In a file with both kinds each end is as it is given.
 */
const hasCrLfOnly = (text: string): boolean => text.includes("\r\n") && !/(?<!\r)\n/.test(text);

const withCrLf = (text: string): string => text.replaceAll(/\r?\n/g, "\r\n");

/** How often a text is in another, also where one place runs into the next: either may be meant. */
function countOf(whole: string, part: string): number {
  let count = 0;
  for (let at = whole.indexOf(part); at !== -1; at = whole.indexOf(part, at + 1)) count++;
  return count;
}

function absent(whole: string, before: string): string {
  const likely = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
  if (whole.includes("\r\n") && whole.replaceAll("\r\n", "\n").includes(before))
    return "its lines end in CR LF. Write \\r\\n in the old text and in the new one";
  if (likely(whole).includes(likely(before)))
    return "the old text is in it with other white space only. Read the place again, and give it letter by letter";
  return "the old text is not in it. Read the file again: it may have changed";
}

const refused = (path: string, reason: string): ToolError =>
  new ToolError(ToolErrorCode.ExecutionFailed, `Cannot edit ${shown(path)}: ${reason}. Nothing was written.`);
