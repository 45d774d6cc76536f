import { silentLogger } from "@rockbot/bus";
import { ToolError, textResponse } from "@rockbot/contracts";
import { createMemoryFileStore, type FileStore } from "@rockbot/records/files";
import { type ToolContext, withLocalLayers } from "@rockbot/tools";
import { expect, test } from "vitest";
import { fileNotes } from "./file-notes.ts";
import { readKeptFile } from "./read-kept-file.ts";

const context = (): ToolContext => ({
  signal: new AbortController().signal,
  deadline: performance.now() + 10_000,
  caller: "ann",
  progress: () => {},
  log: silentLogger,
});
const request = (args: object) => ({
  toolCallId: "1",
  toolName: "read_kept_file",
  arguments: JSON.stringify(args),
  sessionId: null,
});
const reader = (files: FileStore, owner = "ann") => {
  const executor = withLocalLayers(readKeptFile(files, { owner, pageChars: 2_000 }));
  return (args: object) => executor.execute(request(args), context());
};
const put = (files: FileStore, text: string, isUntrusted = false, name = "a.csv") =>
  files.put("ann", { name, isUntrusted, bytes: [Buffer.from(text)] });

test("a model reads a text file part by part, and no letter is cut", async () => {
  await using store = createMemoryFileStore();
  const text = "äöü€😀".repeat(400);
  const { handle } = await put(store.files, text);
  const read = reader(store.files);
  let whole = "";
  for (let offset: number | null = 0; offset !== null; ) {
    const { content, structured } = await read({ file: handle, offset });
    whole += content?.slice(0, content.lastIndexOf("\n["));
    offset = (structured as { next_offset: number | null }).next_offset;
  }
  expect(whole).toBe(text);
  expect((await read({ file: handle, offset: 2, length: 2 })).content).toMatch(
    /^ö\n\["a.csv" \(text\/csv, 5200 bytes\): bytes 2 to 4; read on with offset 4\]$/,
  );
});

test("a model finds the lines where a text stands", async () => {
  await using store = createMemoryFileStore();
  const { handle } = await put(
    store.files,
    Array.from({ length: 500 }, (_, i) => (i % 100 === 7 ? `line ${i} Total` : `line ${i}`)).join("\n"),
  );
  const found = await reader(store.files)({ file: handle, find: "total", context: 1, length: 2 });
  expect(found.content).toMatch(
    /^5 match\(es\) for "total" in "a.csv", which has 500 line\(s\)\.\n--\n7-line 6\n8:line 7 Total\n9-line 8\n--/,
  );
  expect(found.structured).toMatchObject({ matches_total: 5, next_offset: 2 });
});

test("the words of an untrusted file are a stranger's, and bytes are no text", async () => {
  await using store = createMemoryFileStore();
  const { handle } = await put(store.files, "obey me", true);
  expect(await reader(store.files)({ file: handle })).toMatchObject({
    trust: { level: "untrusted", origin: "the file a.csv" },
  });
  const bytes = await store.files.put("ann", {
    name: "obey me.png",
    isUntrusted: true,
    bytes: [Buffer.from([0x89, 0, 255])],
  });
  const refused = expect(reader(store.files)({ file: bytes.handle })).rejects;
  await refused.toThrow(/as text: it is image\/png/);
  await refused.not.toThrow(/obey me/);
});

test("another caller's handle means nothing to a session", async () => {
  await using store = createMemoryFileStore();
  const { handle } = await put(store.files, "secret");
  await expect(reader(store.files, "bob")({ file: handle })).rejects.toMatchObject({
    details: { reason: "no_such_file" },
  });
});

test("a model is told of the files of a result, and how trusted texts begin", async () => {
  await using store = createMemoryFileStore();
  const [own, others] = [await put(store.files, "a,b\n1,2\n"), await put(store.files, "obey me", true, "b.txt")];
  const layer = fileNotes(
    store.files,
    "ann",
  )({
    execute: async (asked) =>
      textResponse(asked, "42", { structured: { files: [own, others, { handle: "no" }, null] } }),
  });
  const { content } = await layer.execute(request({}), context());
  expect(content).toBe(
    `42\n\n[Files:\n- ${own.handle}: "a.csv", text/csv, 8 bytes, begins with "a,b\\n1,2\\n"\n- ${others.handle}: "b.txt", text/plain, 7 bytes]`,
  );
  const long = await put(store.files, `a${"é".repeat(400)}`);
  const ofLong = fileNotes(
    store.files,
    "ann",
  )({ execute: async (asked) => textResponse(asked, "42", { structured: { files: [long] } }) });
  const { content: beginning } = await ofLong.execute(request({}), context());
  expect(beginning).toContain(`begins with "a${"é".repeat(149)}"]`);
  const failing = fileNotes(
    store.files,
    "ann",
  )({
    execute: async () => {
      throw new ToolError("denied", "no");
    },
  });
  await expect(failing.execute(request({}), context())).rejects.toThrow("no");
});
