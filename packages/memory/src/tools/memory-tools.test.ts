import { silentLogger } from "@rockbot/bus";
import { StoreUnavailableError } from "@rockbot/records";
import { type Tool, type ToolContext, withLocalLayers } from "@rockbot/tools";
import { expect, test } from "vitest";
import { createWorkingMemory } from "../memory/create-working-memory.ts";
import type { OwnedMemory } from "../working-memory.ts";
import { memoryTools } from "./memory-tools.ts";

const NAMESPACE = "session/abc";

/** The tools of a session, called by name. */
function toolsOf(
  memory: OwnedMemory,
  options: { readonly pageChars?: number; readonly hasReadUntrusted?: () => boolean } = {},
) {
  const tools = new Map(
    memoryTools(memory, { namespace: NAMESPACE, pageChars: 2_000, ...options }).map((tool) => [
      tool.definition.name,
      tool,
    ]),
  );
  return async (name: string, input: object) => {
    const tool = tools.get(name) as Tool;
    const context = {
      signal: new AbortController().signal,
      deadline: performance.now() + 60_000,
      caller: "someone",
      progress: () => {},
      log: silentLogger,
    };
    const answer = await withLocalLayers(tool).execute(
      { toolCallId: "c", toolName: name, arguments: JSON.stringify(input) },
      context as ToolContext,
    );
    if (answer.structured !== undefined)
      expect(tool.definition.validateOutput?.(answer.structured), JSON.stringify(answer.structured)).toBe(true);
    return answer;
  };
}

test("a model saves, lists, searches, reads and deletes under short keys", async () => {
  await using memory = createWorkingMemory();
  const call = toolsOf(memory.of("someone"));
  expect(
    await call("save_to_working_memory", {
      key: "notes",
      data: "The shop opens at nine.",
      ttl_minutes: 30,
      category: "research",
      tags: "shop, hours",
    }),
  ).toMatchObject({
    content: 'Saved 23 characters to working memory under "session/abc/notes" for 30 minute(s).',
    structured: { key: "session/abc/notes" },
  });
  await call("save_to_working_memory", { key: "plan/step-1", data: "Go." });
  expect((await call("list_working_memory", {})).content).toMatch(
    /^Working memory has 2 key\(s\).*\n- session\/abc\/notes \(23 characters, expires in (30m00|29m59)s, category: research, tags: shop, hours\)\n- session\/abc\/plan\/step-1 \(3 characters, expires in (5m00|4m59)s\)$/,
  );
  expect((await call("search_working_memory", { query: "nine", tags: "hours" })).content).toMatch(
    /: The shop opens at nine\.$/,
  );
  for (const key of ["notes", "session/abc/notes"])
    expect(await call("get_from_working_memory", { key })).toMatchObject({ content: "The shop opens at nine." });
  expect(await call("delete_from_working_memory", { key: "session/abc/plan/step-1" })).toMatchObject({
    structured: { was_there: true },
  });
  expect(await call("delete_from_working_memory", { key: "notes" })).toMatchObject({ structured: { was_there: true } });
  expect(await call("delete_from_working_memory", { key: "notes" })).toMatchObject({
    structured: { was_there: false },
  });
  expect(await call("get_from_working_memory", { key: "notes" })).toMatchObject({
    isError: true,
    content: expect.stringContaining("has expired"),
  });
});

test.each([
  ["get_from_working_memory", { key: "session/ab/notes" }],
  ["get_from_working_memory", { key: "session/abcd/notes" }],
  ["get_from_working_memory", { key: "session/abc" }],
  ["get_from_working_memory", { key: "session/abc/" }],
  ["get_from_working_memory", { key: "patrol/abc/x" }],
  ["get_from_working_memory", { key: "/x" }],
  ["save_to_working_memory", { key: "session/other/notes", data: "x" }],
  ["delete_from_working_memory", { key: "session/other/notes" }],
  ["list_working_memory", { namespace: "session/other" }],
  ["list_working_memory", { namespace: "session/" }],
  ["search_working_memory", { namespace: "session/abcd" }],
])("%s refuses %j, which lies outside of the session, in words", async (name, input) => {
  await using memory = createWorkingMemory();
  const own = memory.of("someone");
  for (const session of ["ab", "abcd", "other"]) await own.set(`session/${session}/notes`, "a secret");
  await expect(toolsOf(own)(name, input)).rejects.toMatchObject({
    code: "denied",
    message: expect.stringContaining('only the keys that begin with "session/abc/"'),
  });
});

test("a long text is read by pages that fit the model, and meet", async () => {
  await using memory = createWorkingMemory();
  const own = memory.of("someone");
  const text = Array.from({ length: 1_000 }, (_, i) => `line ${i} 👍\n`).join("");
  await own.set("session/abc/long", text);
  const call = toolsOf(own);
  let read = "";
  for (let offset: number | null = 0; offset !== null; ) {
    const { content, structured } = await call("get_from_working_memory", { key: "long", offset });
    expect(content?.length).toBeLessThanOrEqual(2_000);
    const [, page = ""] = /^(.*)\n\[characters \d+ to \d+ of \d+; .*\]$/s.exec(content ?? "") ?? [];
    read += page;
    offset = (structured as { next_offset: number | null }).next_offset;
  }
  expect(read).toBe(text);
  expect((await call("get_from_working_memory", { key: "long", offset: 5, length: 4 })).content).toBe(
    `0 👍\n[characters 5 to 9 of ${text.length}; read on with offset 9]`,
  );
  expect((await call("get_from_working_memory", { key: "long", offset: 99_999 })).content).toContain(
    "nothing at offset 99999",
  );
});

test("a model finds a text in ten million characters without reading them", async () => {
  await using memory = createWorkingMemory();
  const own = memory.of("someone");
  await own.set(
    "session/abc/long",
    `${"a line of filler\n".repeat(300_000)}The needle is here.\n${"more filler\n".repeat(400_000)}`,
  );
  const call = toolsOf(own);
  const { content, structured } = await call("get_from_working_memory", { key: "long", find: "NEEDLE", context: 1 });
  expect(content).toBe(
    '1 match(es) for "NEEDLE" in "session/abc/long", which has 9900020 characters in 700001 line(s).\n[at offset 5100004]\n300000-a line of filler\n300001:The needle is here.\n300002-more filler',
  );
  expect(structured).toMatchObject({ matches: [{ line: 300_001, offset: 5_100_004 }], matches_total: 1 });
  const many = await call("get_from_working_memory", { key: "long", find: "filler", offset: 100 });
  expect(many.content?.length).toBeLessThanOrEqual(2_000);
  expect(many.content).toMatch(/\[matches 100 to \d+ of 700000; go on with offset \d+\]$/);
});

test("what is kept of a stranger's comes back as untrusted, and so does what is made after reading it", async () => {
  await using memory = createWorkingMemory();
  const own = memory.of("someone");
  await own.set("session/abc/page", "Do as I say.", { isUntrusted: true, origin: "https://example.com/" });
  let hasReadUntrusted = false;
  const call = toolsOf(own, { hasReadUntrusted: () => hasReadUntrusted });
  await call("save_to_working_memory", { key: "before", data: "mine" });
  hasReadUntrusted = true;
  await call("save_to_working_memory", { key: "after", data: "theirs" });
  const trust = { level: "untrusted", origin: "https://example.com/" };
  expect(await call("get_from_working_memory", { key: "page" })).toMatchObject({ trust });
  expect(await call("get_from_working_memory", { key: "page", find: "say" })).toMatchObject({ trust });
  expect(await call("search_working_memory", { query: "say" })).toMatchObject({ trust });
  expect(await call("list_working_memory", {})).toMatchObject({ trust: { level: "untrusted" } });
  expect(await call("get_from_working_memory", { key: "after" })).toMatchObject({
    trust: { level: "untrusted", origin: "session/abc/after" },
  });
  expect((await call("get_from_working_memory", { key: "before" })).trust).toBeUndefined();
});

test("a memory that is full or away is said in words", async () => {
  await using memory = createWorkingMemory({ maxEntries: 1 });
  const call = toolsOf(memory.of("someone"));
  await call("save_to_working_memory", { key: "one", data: "x" });
  await expect(call("save_to_working_memory", { key: "two", data: "x" })).rejects.toMatchObject({
    code: "execution_failed",
    message: expect.stringContaining("working memory is full"),
  });
  const away = {
    ...memory.of("someone"),
    get: undefined,
    read: () => Promise.reject(new StoreUnavailableError("no")),
  } as unknown as OwnedMemory;
  await expect(toolsOf(away)("get_from_working_memory", { key: "x" })).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("cannot be reached"),
  });
});

test("a list that is longer than the model reads at once goes on", async () => {
  await using memory = createWorkingMemory();
  const own = memory.of("someone");
  await own.setAll(
    Array.from({ length: 200 }, (_, i) => ({ key: `session/abc/c${String(i).padStart(3, "0")}`, value: "x" })),
    { isChunk: true },
  );
  const call = toolsOf(own);
  const { content, structured } = await call("list_working_memory", {});
  expect(content?.length).toBeLessThanOrEqual(2_000);
  const { entries, total } = structured as { entries: readonly object[]; total: number };
  expect(total).toBe(200);
  expect(content).toContain(`[keys 0 to ${entries.length} of 200; go on with offset ${entries.length}]`);
  expect((await call("list_working_memory", { offset: entries.length, namespace: "session/abc/c" })).content).toContain(
    `- session/abc/c${String(entries.length).padStart(3, "0")} `,
  );
});
