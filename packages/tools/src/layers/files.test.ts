import { type Bus, createMemoryBus } from "@rockbot/bus";
import { createEnvelope, Header, ToolError, ToolErrorCode } from "@rockbot/contracts";
import { createMemoryFileStore } from "@rockbot/records/files";
import { expect, test } from "vitest";
import { createToolCaller } from "../call/tool-caller.ts";
import { serveTools } from "../serve/serve-tools.ts";
import { testPolicy, testSet, testTool } from "../test-tools.ts";

const withFile = {
  inputSchema: { type: "object", properties: { file: { type: "string", pattern: "^file_[0-9a-f]{32}$" } } },
};

/** A service whose tools read and leave files, and a caller, over one store. */
async function connect(policy?: string) {
  await using stack = new AsyncDisposableStack();
  const inner = stack.use(createMemoryBus());
  const sent: Readonly<Record<string, string>>[] = [];
  const bus: Bus = Object.assign(Object.create(inner), {
    publish(message: Parameters<Bus["publish"]>[0], ...more: []) {
      if (message.type.endsWith("Request")) sent.push(message.headers);
      return inner.publish(message, ...more);
    },
  });
  const { files } = stack.use(createMemoryFileStore());
  const read = testTool(
    "read",
    async (input, context) => {
      const { file } = input as { file: string };
      const open = await context.files?.open(file);
      const parts: Buffer[] = [];
      for await (const part of open?.read() ?? []) parts.push(part);
      return Buffer.concat(parts).toString();
    },
    withFile,
  );
  const leave = testTool(
    "leave",
    async (input, context) => {
      const { name } = input as { name: string };
      const left = await context.files?.leave({ name, bytes: [Buffer.from("left")] });
      return left?.handle ?? "";
    },
    { cacheSeconds: 60 },
  );
  const refuse = testTool(
    "refuse",
    async (input, context) => {
      const open = await context.files?.open((input as { file: string }).file);
      throw new ToolError(ToolErrorCode.TooLarge, `Cannot take ${open?.facts.name}`);
    },
    withFile,
  );
  const note = testTool("leave-note", async (input) => (input as { text: string }).text, withFile);
  const look = testTool("look", async (_, context) => String((context as { fileKeys?: string }).fileKeys));
  const held = policy === undefined ? undefined : await testPolicy(policy);
  stack.use(await serveTools(bus, testSet(read, leave, note, refuse, look), { service: "tests", files, policy: held }));
  const caller = stack.use(await createToolCaller(bus, { agent: "ann", files }));
  const other = stack.use(await createToolCaller(bus, { agent: "bob", files }));
  await Promise.all([caller.discovered(), other.discovered()]);
  const parts = stack.move();
  return { bus, files, caller, other, sent, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

const put = (files: Awaited<ReturnType<typeof connect>>["files"], isUntrusted = false) =>
  files.put("ann", { name: "a.txt", isUntrusted, bytes: [Buffer.from("words")] });

test("a tool reads the file that its call names, and leaves files for its caller", async () => {
  await using all = await connect();
  const { handle } = await put(all.files);
  expect(await all.caller.call("read", { file: handle })).toMatchObject({ content: "words" });
  const { content } = await all.caller.call("leave", { name: "out.csv" });
  expect(await all.files.list("ann")).toContainEqual(
    expect.objectContaining({ handle: content, name: "out.csv", type: "text/csv", size: 4, isUntrusted: false }),
  );
  expect(await all.caller.call("read", { file: content ?? "" })).toMatchObject({ content: "left" });
});

test("another caller's handle is refused before a service hears of it, and by the service, too", async () => {
  await using all = await connect();
  const { handle } = await put(all.files);
  const gone = { code: "invalid_arguments", details: { reason: "no_such_file" } };
  await expect(all.other.call("read", { file: handle })).rejects.toMatchObject(gone);
  expect(all.sent).toEqual([]);
  const { key = "" } = (await all.files.find("ann", handle)) ?? {};
  await using stranger = await createToolCaller(
    Object.assign(Object.create(all.bus), {
      publish: (message: Parameters<Bus["publish"]>[0]) =>
        all.bus.publish(
          createEnvelope({ ...message, headers: { ...message.headers, [Header.Files]: `${handle}=${key}` } }),
        ),
    }),
    { agent: "eve" },
  );
  await stranger.discovered();
  await expect(stranger.call("read", { file: handle })).rejects.toMatchObject(gone);
});

test("an answer that names a file which its call left is not given again once the file is gone", async () => {
  await using all = await connect();
  const leave = async (): Promise<string> => (await all.caller.call("leave", { name: "out.csv" })).content ?? "";
  await all.files.delete("ann", await leave());
  expect(await all.files.find("ann", await leave())).toMatchObject({ name: "out.csv" });
});

test("a caller that cannot name files is told so, and not that the file is gone", async () => {
  await using all = await connect();
  const { handle } = await put(all.files);
  await using scheduled = await createToolCaller(all.bus, { agent: "ann-later" });
  await scheduled.discovered();
  await expect(scheduled.call("read", { file: handle })).rejects.toMatchObject({
    message: expect.stringContaining("no files can be named"),
    details: { reason: "no_such_file" },
  });
});

test("a tool that takes no files gets no key, whatever its arguments say", async () => {
  await using all = await connect();
  const { handle } = await put(all.files);
  expect(await all.caller.call("look", { text: handle })).toMatchObject({ content: "undefined" });
  expect(all.sent.at(-1)).not.toHaveProperty(Header.Files);
});

test("a call that names an untrusted file is marked, and so are its answer and what it leaves", async () => {
  await using all = await connect();
  const { handle } = await put(all.files, true);
  expect(await all.caller.call("read", { file: handle })).toMatchObject({
    trust: { level: "untrusted", origin: "the file a.txt" },
  });
  expect(all.sent.at(-1)).toMatchObject({ [Header.Untrusted]: "true" });
  const { content } = await all.caller.call("leave", { name: "b" }, { hasReadUntrusted: true });
  expect(await all.files.find("ann", content ?? "")).toMatchObject({ isUntrusted: true });
});

test("what the policy denies after untrusted content cannot be done with an untrusted file", async () => {
  await using all = await connect("everyone: { allow: ['*'], afterUntrusted: { effects: deny } }");
  const { handle } = await put(all.files, true);
  await expect(all.caller.call("read", { file: handle })).rejects.toMatchObject({
    code: "denied",
    details: { reason: "after_untrusted" },
  });
});

test("a call names sixteen files at most", async () => {
  await using all = await connect();
  const handles = Array.from({ length: 17 }, (_, i) => `file_${String(i).padStart(32, "0")}`);
  await expect(all.caller.call("read", { file: handles[0], also: handles })).rejects.toMatchObject({
    details: { reason: "file_count" },
  });
});

test("an error of a tool that has opened an untrusted file is untrusted, as it may have the file's words", async () => {
  await using all = await connect();
  const { handle } = await put(all.files, true);
  await expect(all.caller.call("refuse", { file: handle })).rejects.toMatchObject({
    code: "too_large",
    trust: { level: "untrusted", origin: "the file a.txt" },
  });
  const own = await put(all.files);
  await expect(all.caller.call("refuse", { file: own.handle })).rejects.toMatchObject({ trust: undefined });
});

test("a handle in the midst of other words names no file, so that texts may speak of files that are gone", async () => {
  await using all = await connect();
  const { handle } = await put(all.files, true);
  const gone = `file_${"0".repeat(32)}`;
  for (const text of [`see ${gone}`, `{"handle":"${handle}"}`, `"${gone}"`]) {
    expect(await all.caller.call("leave-note", { text })).toMatchObject({ content: text });
    expect(all.sent.at(-1)).not.toHaveProperty(Header.Files);
  }
});
