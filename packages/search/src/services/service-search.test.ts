import { afterEach, expect, test, vi } from "vitest";
import { ServiceDocuments } from "./service-documents.ts";
import type { ServiceEntry, ServiceTool } from "./service-entry.ts";
import { ServiceSearch } from "./service-search.ts";

afterEach(() => void vi.useRealTimers());

const entry = (id: string, tools: readonly ServiceTool[], summary = ""): ServiceEntry => ({
  id,
  type: "mcp",
  summary,
  tools,
});
const tool = (name: string, description = ""): ServiceTool => ({ name, description });
const idsOf = async (search: ServiceSearch, query: string, among?: readonly ServiceEntry[]): Promise<string[]> =>
  (await search.search(query, 5, among)).map(({ entry: { id } }) => id);

const mail = entry("mail", [
  tool("send_mail", "Send a letter."),
  tool("read_mail", "Read letters."),
  tool("find_mail", "Find letters."),
  tool("sort_mail", "Sort letters."),
]);
const files = entry("files", [tool("read_file", "Read a file.")]);

test("at most five services, the three tools that the question finds, and no hit that is far behind the best one", async () => {
  const many = Array.from({ length: 9 }, (_, i) => entry(`post-${i}`, [tool("post_letter")]));
  const search = new ServiceSearch(() => [mail, ...many]);
  expect(await search.search("letters")).toHaveLength(5);
  expect(await search.search("letters", 2)).toHaveLength(2);
  const hits = await search.search("sort letters");
  expect(hits).toMatchObject([{ entry: mail, relevance: 1 }]);
  expect(hits[0]?.top[0]).toBe("sort_mail");
  expect(hits[0]?.top).toHaveLength(3);
});

test("how relevant a hit is follows from the question: nonsense finds nothing, and a guess looks like one", async () => {
  const calendar = entry("calendar", [tool("move_event", "Reschedule a meeting.")]);
  const others = [
    entry("office", [tool("run_tool", "Run a tool. Fits in a meeting room's planner."), tool("list_rooms", "Rooms.")]),
    ...["news", "shop", "map"].map((id) =>
      entry(id, [tool(`read_${id}`, `Read the ${id}.`), tool(`find_${id}`, `Find in the ${id}.`)]),
    ),
  ];
  const search = new ServiceSearch(() => [mail, files, ...others]);
  const relevanceOf = async (query: string, among?: readonly ServiceEntry[]) =>
    (await search.search(query, 5, among)).map(({ relevance }) => relevance);
  expect((await relevanceOf("reschedule meeting", [mail, files, ...others, calendar]))[0]).toBeGreaterThan(0.9);
  for (const query of ["read zebras", "bake the cake then read it aloud twice"])
    expect([query, await relevanceOf(query)]).toEqual([query, []]);
  for (const query of ["send a letter", "mail", "read"])
    expect([query, (await relevanceOf(query))[0]]).toEqual([query, 1]); // also what many have
  for (const relevance of [
    ...(await relevanceOf("aws spend audit")),
    ...(await relevanceOf("where zebras have a meeting")),
  ])
    expect(relevance).toBeLessThan(0.5);
});

test("a service that the question names comes before others with the same tools", async () => {
  const search = new ServiceSearch(() =>
    ["slack", "discord", "matrix"].map((id) => entry(id, [tool("send_message", "Send a message to a channel.")])),
  );
  for (const id of ["matrix", "slack", "discord"]) expect((await idsOf(search, `send a message on ${id}`))[0]).toBe(id);
});

test("each asker finds among its own entries, and a summary that it does not see finds nothing for it", async () => {
  const search = new ServiceSearch(() => []);
  const full = entry("crm", [tool("read_lead"), tool("erase_lead")], "Also keeps the secret ledger.");
  const narrow = entry("crm", [tool("read_lead")], "Leads.");
  expect(await idsOf(search, "ledger", [full])).toEqual(["crm"]);
  expect(await idsOf(search, "ledger", [narrow])).toEqual([]);
  expect((await search.searchTools("erase", 5, [narrow])).map((hit) => hit.tool.name)).toEqual([]);
  expect((await search.searchTools("erase", 5, [full])).map((hit) => hit.tool.name)).toEqual(["erase_lead"]);
  expect(await idsOf(search, "erase", [{ ...full, tools: narrow.tools }])).toEqual([]);
});

test("what a tool says now is searched, and nothing that it said before", async () => {
  let now = [entry("pages", [tool("page", "Print newspapers.")])];
  const search = new ServiceSearch(() => now);
  expect(await idsOf(search, "newspapers")).toEqual(["pages"]);
  now = [entry("pages", [tool("page", "Bind books.")])];
  expect(await idsOf(search, "newspapers")).toEqual([]);
  expect(await idsOf(search, "bind")).toEqual(["pages"]);
  now = [];
  expect(await idsOf(search, "bind")).toEqual([]);
});

test("a guide without tools is found by its name and summary, and agents by their skills", async () => {
  const guide: ServiceEntry = { id: "mcp-tool-guide", type: "guide", summary: "How to use MCP servers.", tools: [] };
  const agent: ServiceEntry = {
    id: "SalesOps",
    type: "a2a",
    summary: "Sales.",
    tools: [],
    skills: [tool("audit-pipeline")],
  };
  const search = new ServiceSearch(() => [guide, agent, files]);
  expect(await search.search("mcp servers")).toMatchObject([{ entry: guide, top: [] }]);
  expect(await search.search("audit")).toMatchObject([{ entry: agent, top: ["audit-pipeline"] }]);
  expect((await search.searchTools("mcp servers")).map((hit) => hit.tool.name)).toEqual([]);
});

test("documents that nobody asks among any more are forgotten", () => {
  vi.useFakeTimers();
  const documents = new ServiceDocuments(undefined);
  documents.findTools("mail", [mail]);
  const before = documents.rarestScore;
  documents.findTools("mail", [files]);
  expect(documents.rarestScore).toBeGreaterThan(before); // five tools
  vi.advanceTimersByTime(11 * 60_000);
  documents.findTools("mail", [files, entry("other", [])]);
  expect(documents.rarestScore).toBeLessThan(before); // two
});
