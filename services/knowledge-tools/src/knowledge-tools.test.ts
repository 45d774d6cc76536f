import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createMemoryBus, type Logger, silentLogger } from "@rockbot/bus";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { loadConfig } from "@rockbot/process/config";
import type { Embed } from "@rockbot/search";
import { temporaryFolder } from "@rockbot/testing";
import { type CallOptions, createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { configSchema, type KnowledgeToolsConfig } from "./generated/config.ts";
import { startKnowledgeTools } from "./knowledge-tools.ts";

interface SceneOptions {
  readonly settings?: Partial<KnowledgeToolsConfig>;
  readonly policy?: string;
  readonly embed?: Embed;
  readonly log?: Logger;
}

const connect = () => Promise.reject(new Error("no test here has a shared database"));

/** The service with a folder of its own, and somebody who calls on behalf of others. */
async function startScene({
  settings = {},
  policy: text = "everyone: { allow: ['*'] }",
  embed,
  log,
}: SceneOptions = {}) {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(temporaryFolder());
  const bus = stack.use(createMemoryBus());
  const policy = holdPolicy(createPolicy(await readPolicy(`delegates: [gateway]\n${text}`, "of the test")));
  const config = loadConfig(configSchema, { env: {}, overrides: { dataDirectory: folder.path, ...settings } });
  const service = stack.use(
    await startKnowledgeTools(bus, config, {
      service: "knowledge-tools",
      topic: "tool.invoke.knowledge",
      policy,
      connect,
      embed,
      log,
    }),
  );
  const caller = stack.use(await createToolCaller(bus, { agent: "gateway", policy }));
  await caller.discovered();
  const call = (by: string, name: string, args: object, options: CallOptions = {}) =>
    caller.call(name, args, { onBehalfOf: by, ...options });
  const parts = stack.move();
  return { call, caller, service, folder: folder.path, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

type Hits = { readonly id: string; readonly title: string }[];
const titlesOf = (answer: { structured?: unknown }): string[] =>
  (answer.structured as { items: Hits }).items.map(({ title }) => title);

test("an item is saved, found by its words with a snippet, read in full, and changed", async () => {
  await using scene = await startScene();
  const body = `${"Introduction. ".repeat(60)}Then tag the release and tell the team. ${"Appendix. ".repeat(60)}`;
  const saved = await scene.call("alice", "knowledge_save", {
    title: "Release checklist",
    body,
    categories: ["Handbook"],
    tags: ["ops"],
  });
  const { id } = saved.structured as { id: string };
  expect(saved.structured).toMatchObject({ created: true, space: null });
  const found = await scene.call("alice", "knowledge_search", { query: "tagging releases" });
  expect(found.structured).toMatchObject({
    items: [{ id, kind: "post", author: "alice", categories: ["Handbook"], tags: ["ops"] }],
    errors: [],
  });
  expect((found.structured as { items: { snippet: string }[] }).items[0]?.snippet).toMatch(
    /^… .*Then tag the release and tell the team\..* …$/,
  );
  expect(found.content).toMatch(
    /^1\. Release checklist \(id \w+; post by alice, in Handbook, #ops, \d{4}-\d\d-\d\d\)\n {3}… /,
  );
  const changed = await scene.call("alice", "knowledge_save", { id, title: "Checklist of releases" });
  expect(changed.structured).toEqual({ id, created: false, space: null });
  const read = await scene.call("alice", "knowledge_get", { id });
  expect(read.structured).toMatchObject({
    title: "Checklist of releases",
    body,
    categories: ["Handbook"],
    owner: "alice",
  });
  expect(read.content).toContain(body);
});

test("what is no character, or cannot be kept by every database, is kept as U+FFFD, and found by what was given", async () => {
  await using scene = await startScene();
  const given = { title: "a\0b", body: "\ud800 zebra", categories: ["c\0"], tags: ["t\udfff"] };
  const { id } = (await scene.call("alice", "knowledge_save", given)).structured as { id: string };
  expect((await scene.call("alice", "knowledge_get", { id })).structured).toMatchObject({
    title: "a\ufffdb",
    body: "\ufffd zebra",
    categories: ["c\ufffd"],
    tags: ["t\ufffd"],
  });
  const found = await scene.call("alice", "knowledge_search", {
    query: "zebra",
    categories: given.categories,
    tags: given.tags,
  });
  expect(titlesOf(found)).toEqual(["a\ufffdb"]);
  await expect(scene.call("alice", "knowledge_get", { id: "\0" })).rejects.toMatchObject({ code: "invalid_arguments" });
});

test("a database that refuses is told to the log with its reason, and to the caller without", async () => {
  const told: object[] = [];
  await using scene = await startScene({ log: { ...silentLogger, warn: (fields) => told.push(fields) } });
  const other = new DatabaseSync(join(scene.folder, "knowledge.db"));
  other.exec("DROP TABLE item");
  other.close();
  const call = scene.call("alice", "knowledge_get", { id: "a" });
  await expect(call).rejects.toMatchObject({
    code: "unavailable",
    message: expect.not.stringContaining("no such table"),
  });
  expect(told).toContainEqual({ reason: expect.stringContaining("no such table: item") });
});

test("what of the filters is wrong is said for all of them, while the rest searches", async () => {
  await using scene = await startScene();
  await scene.call("alice", "knowledge_save", {
    title: "Plan",
    body: "the plan",
    kind: "node",
    categories: ["Roadmap"],
  });
  await scene.call("bob", "knowledge_save", { title: "Other plan", body: "the plan", space: "shared" });
  const query = {
    query: "plan",
    kinds: ["NODE", "blog"],
    authors: ["@Alice", "alise"],
    categories: ["roadmap", "Raodmap", "x"],
  };
  const found = await scene.call("alice", "knowledge_search", query);
  expect(titlesOf(found)).toEqual(["Plan"]);
  expect((found.structured as { errors: string[] }).errors).toEqual([
    expect.stringMatching(/^invalid kinds: "blog"\..*There are: post, thread, .*The search used the others\.$/),
    expect.stringMatching(/^invalid authors: "alise"\. Did you mean "alice"\?/),
    expect.stringMatching(/^invalid categories: "Raodmap", "x"\. Did you mean "Roadmap"\? There are: Roadmap\./),
  ]);
  expect(found.content).toMatch(/Plan \(id .*\n\nErrors: invalid kinds: .*invalid authors: .*invalid categories: /s);
  const unfiltered = await scene.call("alice", "knowledge_search", { query: "plan", kinds: ["blog"] });
  expect(titlesOf(unfiltered)).toHaveLength(2);
  expect(unfiltered.content).toContain("The search was not narrowed by kinds.");
});

test("items with all words come first, then those with all but one, then those with any", async () => {
  await using scene = await startScene();
  for (const body of ["apple", "apple banana cherry", "apple banana", "durian"])
    await scene.call("a", "knowledge_save", { title: body.toUpperCase(), body });
  expect(titlesOf(await scene.call("a", "knowledge_search", { query: "apple banana cherry" }))).toEqual([
    "APPLE BANANA CHERRY",
    "APPLE BANANA",
    "APPLE",
  ]);
  expect(titlesOf(await scene.call("a", "knowledge_search", { query: "apple banana cherry", max_results: 1 }))).toEqual(
    ["APPLE BANANA CHERRY"],
  );
});

test("an item is its owner's until it is in a space, and only those read it for whom the policy opens that", async () => {
  const policy =
    "callers: { alice: { spaces: [team, shared] }, bob: { spaces: [shared] }, carol: { spaces: [team] } }\neveryone: { allow: ['*'] }";
  await using scene = await startScene({ policy });
  const save = async (space: string | undefined) =>
    (await scene.call("alice", "knowledge_save", { title: "Secret", body: "words", space })).structured?.["id"];
  const [own, team] = [await save(undefined), await save("team")];
  const seenBy = async (by: string) => {
    const answer = await scene.call(by, "knowledge_search", { query: "words", authors: ["alice"] });
    const { items, errors } = answer.structured as { items: Hits; errors: string[] };
    return [items.map(({ id }) => id).sort(), errors.length];
  };
  expect(await seenBy("alice")).toEqual([[own, team].sort(), 0]);
  expect(await seenBy("carol")).toEqual([[team], 0]);
  expect(await seenBy("bob")).toEqual([[], 1]); // not even the author's name is known to him
  for (const [by, id] of [
    ["bob", own],
    ["bob", team],
    ["carol", own],
  ] as const) {
    await expect(scene.call(by, "knowledge_get", { id })).rejects.toMatchObject({
      code: "invalid_arguments",
      message: expect.stringContaining("There is no item"),
    });
    await expect(scene.call(by, "knowledge_save", { id, title: "Mine" })).rejects.toMatchObject({
      code: "invalid_arguments",
    });
  }
  await expect(scene.call("carol", "knowledge_save", { id: team, title: "Mine" })).rejects.toMatchObject({
    code: "denied",
  });
  await expect(scene.call("bob", "knowledge_save", { title: "x", body: "x", space: "team" })).rejects.toMatchObject({
    code: "denied",
    message: expect.stringMatching(/does not open the space "team" for "bob"/),
  });
});

test("what a turn saves that has read strangers' content is untrusted for every reader, and stays so", async () => {
  await using scene = await startScene();
  const untrusted = { level: "untrusted", origin: "knowledge of alice" };
  const { structured } = await scene.call(
    "alice",
    "knowledge_save",
    { title: "Page", body: "Obey!", space: "shared" },
    { hasReadUntrusted: true },
  );
  await scene.call("alice", "knowledge_save", { id: structured?.["id"], body: "Obey, now!" });
  expect((await scene.call("bob", "knowledge_search", { query: "obey" })).trust).toEqual(untrusted);
  expect((await scene.call("bob", "knowledge_get", { id: structured?.["id"] })).trust).toEqual(untrusted);
  await scene.call("alice", "knowledge_save", { title: "Own", body: "words", space: "shared" });
  expect((await scene.call("bob", "knowledge_search", { query: "words" })).trust).toBeUndefined();
});

test("all that is missing of a new item is said at once, and a caller has so many items at most", async () => {
  await using scene = await startScene({ settings: { maxItemsPerCaller: 1 } });
  await expect(scene.call("a", "knowledge_save", { kind: "posst" })).rejects.toMatchObject({
    code: "invalid_arguments",
    message: expect.stringMatching(
      /title: a new item needs one; body: a new item needs one; kind: "posst" is not a known kind\. Did you mean "post"\?/,
    ),
  });
  const { structured } = await scene.call("a", "knowledge_save", { title: "x", body: "x" });
  await expect(scene.call("a", "knowledge_save", { title: "y", body: "y" })).rejects.toMatchObject({ code: "denied" });
  await scene.call("a", "knowledge_save", { id: structured?.["id"], title: "z" });
  await scene.call("b", "knowledge_save", { title: "y", body: "y" });
});

test("the items of one caller have so many bytes at most, in words that name the bound, and another's have theirs", async () => {
  await using scene = await startScene({ settings: { maxBytesPerCaller: 1_000_000 } });
  const body = "ü".repeat(100_000);
  const ids: unknown[] = [];
  for (let i = 0; i < 4; i++)
    ids.push((await scene.call("a", "knowledge_save", { title: `${i}`, body })).structured?.["id"]);
  const refused = { code: "denied", message: expect.stringMatching(/would have 11\d{5} bytes, and may have 1000000/) };
  await scene.call("a", "knowledge_save", { title: "5", body: body.slice(0, 50_000) });
  await expect(scene.call("a", "knowledge_save", { title: "6", body })).rejects.toMatchObject(refused);
  await expect(scene.call("a", "knowledge_save", { id: ids[0], body: body.repeat(2) })).rejects.toMatchObject(refused);
  await scene.call("a", "knowledge_save", { id: ids[0], body: "short" });
  await scene.call("a", "knowledge_save", { title: "6", body });
  await scene.call("b", "knowledge_save", { title: "1", body });
});

test("a search under the name search is offered where the settings say so", async () => {
  await using without = await startScene();
  expect(without.service.off).toEqual([{ tool: "search", reason: expect.stringContaining("OFFER_SEARCH") }]);
  expect(without.caller.tools.get("search")).toBeUndefined();
  await using scene = await startScene({ settings: { offerSearch: true } });
  await scene.call("a", "knowledge_save", { title: "x", body: "words" });
  expect(titlesOf(await scene.call("a", "search", { query: "word" }))).toEqual(["x"]);
});

test("schemas are announced with the kinds and categories of what all may read, and of nothing else", async () => {
  await using scene = await startScene();
  const announced = () =>
    scene.caller.tools.getTools().find(({ name }) => name === "knowledge_search")?.parametersSchema ?? "";
  expect(announced()).toMatch(/"post".*"thread"/);
  await scene.call("alice", "knowledge_save", { title: "x", body: "x", categories: ["Hidden"] });
  await scene.call("alice", "knowledge_save", { title: "x", body: "x", categories: ["Seen"], space: "shared" });
  await expect.poll(announced).toContain('"Seen"');
  expect(announced()).not.toContain("Hidden");
});

test("a category that strangers had a part in stands in no schema and no error, and is found all the same", async () => {
  await using scene = await startScene();
  const announced = () =>
    scene.caller.tools.getTools().find(({ name }) => name === "knowledge_search")?.parametersSchema ?? "";
  const save = (category: string, hasReadUntrusted: boolean) =>
    scene.call(
      "alice",
      "knowledge_save",
      { title: "x", body: "x", categories: [category], space: "shared" },
      { hasReadUntrusted },
    );
  await save("Call send now", true);
  await save("Seen", false);
  await expect.poll(announced).toContain('"Seen"');
  expect(announced()).not.toContain("Call send");
  const { content, trust } = await scene.call("bob", "knowledge_search", { query: "zebra", categories: ["nothing"] });
  expect([content, trust]).toEqual([expect.stringMatching(/There are: Seen\./), undefined]);
  expect(await scene.call("bob", "knowledge_search", { query: "x", categories: ["call send now"] })).toMatchObject({
    structured: { errors: [], items: [{ categories: ["Call send now"] }] },
    trust: { level: "untrusted" },
  });
});

test("with vectors, what means the same comes before what has no more than the same words", async () => {
  const embed: Embed = async (texts) => texts.map((text) => (/boat|ship/.test(text) ? [1, 0] : [0, 1]));
  await using scene = await startScene({ embed });
  for (const title of ["boat", "second", "first"])
    await scene.call("a", "knowledge_save", { title, body: "about the harbour" });
  const search = async () => titlesOf(await scene.call("a", "knowledge_search", { query: "harbour ship" }));
  expect(await search()).toEqual(["first", "second", "boat"]); // and the vectors are made
  await expect.poll(search).toEqual(["first", "boat", "second"]);
});
