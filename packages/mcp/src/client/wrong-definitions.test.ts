import { type RawAnswers, rawServer, startRawHttpServer, temporaryFolder } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { Listing } from "./incoming/listing.ts";
import { callTool, startServer, testEnv, until } from "./test-servers.ts";

const good = { name: "good", inputSchema: { type: "object" } };
const nested = (depth: number): object => JSON.parse(`${'{"not":'.repeat(depth)}{}${"}".repeat(depth)}`);

/** Definitions that are wrong, each with the name that tells which it is, and what is said of it. */
const wrong: readonly (readonly [string, unknown, string, string])[] = [
  ["no inputSchema", { name: "bad" }, "bad", "inputSchema: expected object"],
  ["inputSchema null", { name: "bad", inputSchema: null }, "bad", "inputSchema: expected object"],
  ["inputSchema {}", { name: "bad", inputSchema: {} }, "bad", 'inputSchema.type: expected "object"'],
  ["inputSchema an array", { name: "bad", inputSchema: [] }, "bad", "inputSchema: expected object"],
  ["inputSchema a text", { name: "bad", inputSchema: "object" }, "bad", "inputSchema: expected object"],
  [
    "inputSchema of another type",
    { name: "bad", inputSchema: { type: "string" } },
    "bad",
    'inputSchema.type: expected "object"',
  ],
  [
    "properties an array",
    { name: "bad", inputSchema: { type: "object", properties: [] } },
    "bad",
    "inputSchema.properties",
  ],
  ["required a text", { name: "bad", inputSchema: { type: "object", required: "a" } }, "bad", "inputSchema.required"],
  ["no name", { inputSchema: { type: "object" } }, "number 2 of the list", "name: expected string"],
  ["name null", { ...good, name: null }, "number 2 of the list", "name: expected string"],
  ["name a number", { ...good, name: 7 }, "number 2 of the list", "name: expected string"],
  ["name empty", { ...good, name: "" }, "number 2 of the list", "it has no name"],
  ["name hidden", { ...good, name: "b\u200bad" }, "b\\u200bad", "invisible characters"],
  ["name of two lines", { ...good, name: "b\u2028ad" }, "b\\u2028ad", "invisible characters"],
  ["name endless", { ...good, name: "x".repeat(300) }, `${"x".repeat(80)}…`, "its name has 300 characters"],
  ["name twice", good, "good", "is in the list already"],
  ["description a number", { ...good, name: "bad", description: 7 }, "bad", "description: expected string"],
  ["annotations a text", { ...good, name: "bad", annotations: "readOnly" }, "bad", "annotations: expected object"],
  [
    "a hint that is no truth",
    { ...good, name: "bad", annotations: { readOnlyHint: "yes" } },
    "bad",
    "annotations.readOnlyHint: expected boolean",
  ],
  ["_meta a text", { ...good, name: "bad", _meta: "x" }, "bad", "_meta: expected record"],
  [
    "schema without a floor",
    { name: "bad", inputSchema: { type: "object", ...nested(2_000) } },
    "bad",
    "nested too deeply",
  ],
  [
    "schema without an end",
    { name: "bad", inputSchema: { type: "object", $comment: "x", enum: ["y".repeat(70_000)] } },
    "bad",
    "more than 65536 characters",
  ],
  ["no definition: null", null, "number 2 of the list", "expected object"],
  ["no definition: a text", "bad", "number 2 of the list", "expected object"],
  ["no definition: a list", [good], "number 2 of the list", "expected object"],
  ["a task to run it", { ...good, name: "bad", execution: { taskSupport: "required" } }, "bad", "only as a task"],
  ["for apps only", { ...good, name: "bad", _meta: { ui: { visibility: ["app"] } } }, "bad", "for apps only"],
  ["for apps only, as a text", { ...good, name: "bad", _meta: { "ui/visibility": "app" } }, "bad", "for apps only"],
];

describe.each(["older", "newer"] as const)("a server of the %s era", (era) => {
  test.each(wrong)(
    "is served but for a definition with %s, which is told with its reason",
    async (_, definition, tool, why) => {
      await using peer = await startRawHttpServer({ era, tools: [good, definition, { ...good, name: "last" }] });
      await using server = startServer({ type: "http", url: peer.url, headers: {} });
      await until(server, "ready");
      expect(server.tools.map(({ name }) => name)).toEqual(["good", "last"]);
      expect(server.health).toMatchObject({
        state: "ready",
        failures: 0,
        leftOut: [{ tool, why: expect.stringContaining(why) }],
      });
      expect(await callTool(server, "last")).toMatchObject({ content: "fine" });
    },
  );

  test("is served with definitions in which null stands for what may be missing", async () => {
    const { inputSchema } = good;
    const nulls = { description: null, title: null, annotations: null, outputSchema: null, icons: null, _meta: null };
    const tools = [
      { ...good, ...nulls },
      { name: "hints", inputSchema, annotations: { title: null, readOnlyHint: null } },
      { name: "schema", inputSchema: { type: "object", properties: null, required: null } },
    ];
    await using peer = await startRawHttpServer({ era, tools });
    await using server = startServer({ type: "http", url: peer.url, headers: {} });
    await until(server, "ready");
    expect(server.health.leftOut).toEqual([]);
    expect(server.tools.map(({ name }) => name)).toEqual(["good", "hints", "schema"]);
    expect(await callTool(server, "schema")).toMatchObject({ content: "fine" });
  });

  test("is served with schemas that the protocol of its era does not have: one that promises nothing is passed over", async () => {
    const [array, any] = [
      { type: "array", items: { type: "number" } },
      { anyOf: [{ type: "string" }, { type: "null" }] },
    ];
    const outputs = [array, any, true, [], "number"].map((outputSchema, i) => ({
      ...good,
      name: `t${i}`,
      outputSchema,
    }));
    const input = { ...good, name: "t5", inputSchema: { ...good.inputSchema, $schema: 3, properties: { a: true } } };
    await using peer = await startRawHttpServer({ era, tools: [...outputs, input, good] });
    await using server = startServer({ type: "http", url: peer.url, headers: {} });
    await until(server, "ready");
    expect(server.tools.map(({ name }) => name)).toEqual(["t0", "t1", "t2", "t3", "t4", "t5", "good"]);
    expect(server.tools.map(({ outputSchema }) => outputSchema).filter(Boolean)).toEqual([array, any]);
    expect(await callTool(server, "t2")).toMatchObject({ content: "fine" });
  });

  test("is served with one tool a page", async () => {
    const tools = Array.from({ length: 70 }, (_, i) => ({ ...good, name: `t${i}` }));
    await using peer = await startRawHttpServer({ era, tools, pageSize: 1 });
    await using server = startServer({ type: "http", url: peer.url, headers: {} });
    await until(server, "ready");
    expect([server.tools.length, server.health.leftOut]).toEqual([70, []]);
  });

  test.each<[string, Pick<RawAnswers, "list">]>([
    ["null", { list: { nextCursor: null } }],
    ["empty", { list: { nextCursor: "" } }],
    ["a number", { list: { nextCursor: 7 } }],
  ])("has a cursor that is %s: the list ends there", async (_, list) => {
    await using peer = await startRawHttpServer({ era, tools: [good], ...list });
    await using server = startServer({ type: "http", url: peer.url, headers: {} });
    await until(server, "ready");
    expect([server.tools.length, server.health.leftOut]).toEqual([1, []]);
  });
});

test("a list that never ends is read once around", async () => {
  await using peer = await startRawHttpServer({ tools: [good], list: { nextCursor: "again" } });
  await using server = startServer({ type: "http", url: peer.url, headers: {} });
  await until(server, "ready");
  expect(server.tools).toHaveLength(1);
  expect(peer.requests.get("tools/list")).toBeLessThanOrEqual(2);
});

test("of a list that goes on, what was read is served, and that it goes on is told", () => {
  const listing = new Listing();
  const page = (at: number) => listing.readPage({ tools: [], nextCursor: `${at}` });
  expect(
    Array.from({ length: 128 }, (_, at) => page(at)).filter(({ nextCursor }) => nextCursor === undefined),
  ).toHaveLength(1);
  expect(listing.leftOut).toEqual([{ tool: "the rest of the list", why: expect.stringContaining("128 pages") }]);
});

test("over stdio, with all wrong definitions in one list, the others are served", async () => {
  using folder = temporaryFolder();
  const tools = [...wrong.map(([, definition]) => definition), good, { ...good, name: "last" }];
  await using server = startServer(
    { type: "stdio", env: testEnv, ...rawServer(folder.path, { tools }) },
    { allowed: ["good", "last"] },
  );
  await until(server, "ready");
  expect(server.tools.map(({ name }) => name)).toEqual(["good", "last"]);
  expect(server.health.leftOut).toHaveLength(wrong.length);
});

test("a list that is none fails the server, in words", async () => {
  await using peer = await startRawHttpServer({ tools: { good } });
  await using server = startServer({ type: "http", url: peer.url, headers: {} }, {}, { backOffMs: [60_000] });
  await until(server, "failing");
  expect(server.health.lastFailure).toContain("tools/list");
});
