import { silentLogger } from "@rockbot/bus";
import { type ToolInvokeResponse, textResponse, tools } from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";
import type { ToolContext } from "@rockbot/tools";
import { expect, test } from "vitest";
import { createWorkingMemory } from "../memory/create-working-memory.ts";
import type { OwnedMemory } from "../working-memory.ts";
import { sizeBounds } from "./size-bounds.ts";
import { type SizeLayerOptions, sizeLayer } from "./size-layer.ts";

const NAMESPACE = "session/abc123";
const context = {
  signal: new AbortController().signal,
  deadline: 0,
  caller: "someone",
  progress: () => {},
  log: silentLogger,
} as ToolContext;

interface Call {
  readonly content: string | null;
  readonly more?: Partial<ToolInvokeResponse>;
  readonly tool?: string;
  readonly args?: object;
  readonly id?: string;
}

/** What the model gets for a result. */
function sized(
  { content, more = {}, tool = "list_models", args = {}, id = "call-1" }: Call,
  options: SizeLayerOptions,
): Promise<ToolInvokeResponse> {
  const layer = sizeLayer({ namespace: NAMESPACE, ...options })({
    execute: async (request) => textResponse(request, content, more),
  });
  return layer.execute(
    { toolCallId: id, toolName: tool, arguments: JSON.stringify(args) },
    { ...context, resultSize: tool === "web_browse" ? tools.webBrowse.resultSize : undefined },
  );
}

const lines = (count: number) => Array.from({ length: count }, (_, i) => `line ${i} of the result\n`).join("");

test("a result that the model can read comes as it is", async () => {
  await using memory = createWorkingMemory();
  const own = memory.of("someone");
  const content = "x".repeat(64_000);
  expect(await sized({ content, more: { structured: { a: 1 } } }, { memory: own })).toMatchObject({
    content,
    structured: { a: 1 },
  });
  expect(await own.list("")).toEqual([]);
});

test("a larger one goes to working memory, and the model gets the index of its chunks", async () => {
  await using memory = createWorkingMemory();
  const own = memory.of("someone");
  const content = `${"# One\n"}${lines(2_000)}## Two | more\n${lines(3_000)}`;
  const { content: index, structured } = await sized({ content, more: { structured: { big: "x" } } }, { memory: own });
  const key = `${NAMESPACE}/tool-list_models-5d7963c4`;
  expect(
    index,
  ).toBe(`Tool result for 'list_models' is large (${String(content.length).replace(/(\d{3})$/, " $1")} chars) and has been split into 3 chunk(s)
stored in working memory.
A document outline is stored at key \`${key}-index\` — retrieve
it with get_from_working_memory to navigate the content by section heading.
Call get_from_working_memory(key) for each relevant chunk BEFORE drawing conclusions.

| # | Heading | Key |
|---|---------|-----|
| 0 | One     | \`${key}-chunk0\` |
| 1 | Two \\| more | \`${key}-chunk1\` |
| 2 | Two \\| more (continued 1) | \`${key}-chunk2\` |`);
  const tool_output = {
    handle: `${key}-index`,
    reason: "size_limit_exceeded",
    bytes: content.length,
    lines: 5_002,
    tokens: expect.any(Number),
  };
  expect(structured).toEqual({ tool_output });
  const chunks = await Promise.all([0, 1, 2].map((n) => own.get(`${key}-chunk${n}`)));
  expect(chunks.map((chunk) => chunk?.value).join("")).toBe(content);
  expect(chunks[0]).toMatchObject({ category: "tool-result", isChunk: true, isUntrusted: false });
  expect(Number(chunks[0]?.expiresAt) - Number(chunks[0]?.storedAt)).toBe(20 * 60_000);
  expect((await own.get(`${key}-index`))?.value).toContain(
    `- **One** → \`${key}-chunk0\`\n  - **Two | more** → \`${key}-chunk1\``,
  );
});

test("a replayed call gives the same keys and the same text", async () => {
  await using memory = createWorkingMemory();
  const own = memory.of("someone");
  const call: Call = { content: lines(5_000) };
  const first = await sized(call, { memory: own });
  expect(await sized(call, { memory: own })).toEqual(first);
  expect((await sized({ ...call, id: "call-2" }, { memory: own })).content).not.toBe(first.content);
});

test("a page of the web has bounds of its own, and keys of its address", async () => {
  await using memory = createWorkingMemory();
  const own = memory.of("someone");
  const trust = { level: "untrusted", origin: "https://example.com/big" } as const;
  const answer = await sized(
    { content: lines(400), more: { trust }, tool: "web_browse", args: { url: "https://example.com/big" } },
    { memory: own },
  );
  expect(answer).toMatchObject({
    trust,
    content: expect.stringContaining(`\`${NAMESPACE}/web-https___example.com_big-chunk0\``),
  });
  const entries = await own.list(`${NAMESPACE}/web-https___example.com_big-`);
  expect(entries.length).toBeGreaterThan(2);
  for (const entry of entries) {
    expect(entry.length).toBeLessThanOrEqual(4_000);
    expect(entry).toMatchObject({ category: "web", isUntrusted: true, origin: trust.origin });
    expect(entry.expiresAt - entry.storedAt).toBe(30 * 60_000);
  }
});

test("a page that is read again leaves nothing of what it was before", async () => {
  await using memory = createWorkingMemory();
  const own = memory.of("someone");
  const page: Call = { content: lines(1_000), tool: "web_browse", args: { url: "https://example.com/big" } };
  await sized(page, { memory: own });
  const { content } = await sized({ ...page, content: lines(400) }, { memory: own });
  const chunks = (await own.list(`${NAMESPACE}/web-https___example.com_big-chunk`)).length;
  expect(content).toContain(`split into ${chunks} chunk(s)`);
});

test("addresses that differ have keys that differ, also where they are cut", async () => {
  await using memory = createWorkingMemory();
  const long = `https://example.com/${"a".repeat(200)}`;
  const urls = [
    "https://example.com/a/b",
    "https://example.com/a_b",
    "https://example.com/a?b",
    "https://example.com/a:b",
    `${long}1`,
    `${long}2`,
  ];
  const handles = await Promise.all(
    urls.map(async (url) => {
      const { structured } = await sized(
        { content: lines(400), tool: "web_browse", args: { url } },
        { memory: memory.of("someone") },
      );
      return (structured as { tool_output: { handle: string } }).tool_output.handle;
    }),
  );
  expect(new Set(handles).size).toBe(urls.length);
  for (const handle of handles)
    expect(handle.length).toBeLessThanOrEqual(NAMESPACE.length + "/web-".length + 80 + "-index".length);
});

test("the index fits the model, however many chunks there are", async () => {
  await using memory = createWorkingMemory();
  const own = memory.of("someone");
  const content = Array.from({ length: 900 }, (_, i) => `# Heading ${i}\n${"text ".repeat(600)}\n`).join("");
  const { content: index } = await sized(
    { content, tool: "web_browse", args: { url: "https://example.com/" } },
    { memory: own },
  );
  expect(index?.length).toBeLessThanOrEqual(8_000);
  expect(index).toMatch(
    /… and \d+ more, up to `session\/abc123\/web-https___example.com_-chunk\d+`: the outline has them all\.$/,
  );
  expect((await own.get(`${NAMESPACE}/web-https___example.com_-index`))?.value).toContain("**Heading 899**");
});

test("a model with little room has the threshold that is said, also for pages", async () => {
  await using memory = createWorkingMemory();
  const threshold = sizeBounds({
    threshold: 2_000,
    tools: { own: { threshold: 50_000, chunkLength: 100, ttlMs: 1_000 } },
  });
  expect(threshold("any")).toEqual({ threshold: 2_000, chunkLength: 2_000, ttlMs: 1_200_000 });
  expect(threshold("web_browse", tools.webBrowse.resultSize)).toEqual({
    threshold: 2_000,
    chunkLength: 2_000,
    ttlMs: 1_800_000,
    isOfUrl: true,
  });
  expect(threshold("own", tools.webSearch.resultSize).chunkLength).toBe(100);
  expect(threshold("own")).toEqual({ threshold: 2_000, chunkLength: 100, ttlMs: 1_000 });
  expect(sizeBounds({ threshold: 200_000 })("any").chunkLength).toBe(200_000);
  const own = memory.of("someone");
  const { content } = await sized({ content: lines(200) }, { memory: own, threshold });
  expect(content).toContain("split into 3 chunk(s)");
  for (const { key, length } of await own.list(""))
    if (!key.endsWith("-index")) expect(length).toBeLessThanOrEqual(2_000); // what one call reads
});

test("a value without text counts as its JSON", async () => {
  await using memory = createWorkingMemory();
  const own = memory.of("someone");
  const structured = { items: Array.from({ length: 10_000 }, (_, id) => ({ id })) };
  const { content } = await sized({ content: null, more: { structured } }, { memory: own });
  expect(content).toContain("$.items[0..");
  const chunks = await Promise.all(
    (await own.list("")).filter(({ key }) => !key.endsWith("-index")).map(({ key }) => own.get(key)),
  );
  const items = chunks.flatMap((chunk) => (JSON.parse(String(chunk?.value)) as { items: object[] }).items);
  expect(items).toHaveLength(10_000);
});

const away = { setAll: () => Promise.reject(new StoreUnavailableError("away")) } as unknown as OwnedMemory;
const full = createWorkingMemory({ maxBytes: 1_000 }).of("someone");

test.each<[string, SizeLayerOptions]>([
  ["there is no memory", {}],
  ["there is no session", { memory: full, namespace: undefined }],
  ["the memory is full", { memory: full }],
  ["the memory is away", { memory: away }],
])("the result is cut, and says so, where %s", async (_, options) => {
  const text = `${"x".repeat(63_999)}👍${"y".repeat(99)}`;
  const { content, structured } = await sized({ content: text }, options);
  expect(content).toBe(`${"x".repeat(63_999)}\n[result truncated — 101 chars omitted]`);
  expect(structured).toEqual({
    tool_output: { reason: "size_limit_exceeded", bytes: 64_102, lines: 1, tokens: expect.any(Number) },
  });
});

test("what reads working memory is not chunked again", async () => {
  await using memory = createWorkingMemory();
  const content = "x".repeat(100_000);
  for (const tool of ["get_from_working_memory", "search_working_memory", "list_working_memory"]) {
    expect(await sized({ content, tool }, { memory: memory.of("someone") })).toMatchObject({ content });
  }
});

test("tokens of a long text are about those of its parts", async () => {
  const { structured } = await sized({ content: lines(50_000) }, {});
  const { tokens } = (structured as { tool_output: { tokens: number } }).tool_output;
  expect(tokens).toBeGreaterThan(50_000 * 5);
  expect(tokens).toBeLessThan(50_000 * 8);
});
