import { type FileStore, isHandle, isTextType } from "@rockbot/records/files";
import type { ToolLayer } from "@rockbot/tools";

/** What a result says of a file, as far as it is one. */
interface NamedFile {
  readonly handle: string;
  readonly name: string;
  readonly type: string;
  readonly size: number;
  readonly isUntrusted: boolean;
}

/** So much of the beginning of a text file is shown. */
const SHOWN_BYTES = 300;
const SHOWN_FILES = 16;

/**
 * Tells a model of the files that a result has beside its text: handle, name, type, size, and how a text begins. Words
 * of strangers are not shown there: who wants them reads the file.
 */
export const fileNotes =
  (files: FileStore, owner: string): ToolLayer =>
  (next) => ({
    async execute(request, context) {
      const response = await next.execute(request, context);
      const named = filesIn(response.structured);
      if (named.length === 0 || response.content == null) return response;
      const notes = await Promise.all(named.slice(0, SHOWN_FILES).map((file) => noteOf(files, owner, file)));
      const more = named.length > SHOWN_FILES ? [`and ${named.length - SHOWN_FILES} more`] : [];
      return { ...response, content: `${response.content}\n\n[Files:\n${[...notes, ...more].join("\n")}]` };
    },
  });

function filesIn(structured: unknown): readonly NamedFile[] {
  const { files, $files } = (structured ?? {}) as { readonly files?: unknown; readonly $files?: unknown };
  return [files, $files].flatMap((found) => (Array.isArray(found) ? found.filter(isNamedFile) : []));
}

const isNamedFile = (value: Partial<NamedFile> | null): value is NamedFile =>
  typeof value?.handle === "string" &&
  isHandle(value.handle) &&
  typeof value.name === "string" &&
  typeof value.type === "string" &&
  typeof value.size === "number";

async function noteOf(files: FileStore, owner: string, file: NamedFile): Promise<string> {
  const { handle, name, type, size } = file;
  const note = `- ${handle}: ${JSON.stringify(name.slice(0, 255))}, ${type.slice(0, 80)}, ${size} bytes`;
  if (!isTextType(type)) return note;
  try {
    const listed = await files.find(owner, handle);
    if (listed === undefined) return note;
    const { facts, read } = await files.open({ owner, handle, key: listed.key });
    if (facts.isUntrusted) return note;
    const utf8 = new TextDecoder();
    let beginning = "";
    for await (const part of read(0, SHOWN_BYTES)) beginning += utf8.decode(part, { stream: true }); // no half letter
    return `${note}, begins with ${JSON.stringify(beginning)}`;
  } catch {
    return note; // the file may be gone, and the result stands
  }
}
