import { expect, test } from "vitest";
import type { ServiceEntry } from "../services/service-entry.ts";
import { ServiceSearch } from "../services/service-search.ts";
import { fuseRanks } from "./meanings.ts";

const entry = (id: string, description: string): ServiceEntry => ({
  id,
  type: "tool",
  summary: "",
  tools: [{ name: `${id}_it`, description }],
});
const entries = [entry("ship", "Move goods by sea."), entry("mail", "Send letters."), entry("bake", "Make bread.")];

/** Knows that freight goes by sea, and nothing else. */
function embedder() {
  const texts: string[] = [];
  return {
    texts,
    async embed(given: readonly string[]) {
      texts.push(...given);
      return given.map((text) => (/freight|sea/i.test(text) ? [2, 0] : [0, 1]));
    },
  };
}

const idsOf = async (search: ServiceSearch, query: string): Promise<string[]> =>
  (await search.search(query)).map(({ entry: { id } }) => id);

test("what no word finds is found by its meaning, once the texts have their vectors, which are made once", async () => {
  const { texts, embed } = embedder();
  const search = new ServiceSearch(() => entries, { embed });
  expect(await idsOf(search, "freight")).toEqual([]);
  await expect.poll(() => idsOf(search, "freight")).toContain("ship");
  const [best] = await search.search("freight");
  expect(best).toMatchObject({ entry: { id: "ship" }, relevance: 0.5, top: ["ship_it"] });
  expect((await search.searchTools("freight"))[0]?.tool.name).toBe("ship_it");
  expect(texts.filter((text) => text !== "freight")).toHaveLength(entries.length);
});

test("words and meaning are fused: what both find is first", async () => {
  const search = new ServiceSearch(() => [...entries, entry("lake", "Freight on lakes.")], { embed: embedder().embed });
  await expect.poll(async () => (await search.search("freight by sea")).length).toBeGreaterThan(2);
  expect((await idsOf(search, "freight by sea")).slice(0, 2).sort()).toEqual(["lake", "ship"]);
});

test.each([
  ["fails", () => Promise.reject(new Error("no"))],
  ["gives too few vectors", async () => []],
])("a function that %s leaves the words", async (_, embed) => {
  const search = new ServiceSearch(() => entries, { embed });
  for (let i = 0; i < 3; i++) {
    expect(await idsOf(search, "letters")).toEqual(["mail"]);
    expect((await search.searchTools("letters")).map(({ tool }) => tool.name)).toEqual(["mail_it"]);
  }
});

test("fused ranks add up what the lists say by place", () => {
  const fused = fuseRanks([
    ["a", "b"],
    ["b", "c"],
  ]);
  expect(fused.map(({ item }) => item)).toEqual(["b", "a", "c"]);
  expect(fused[0]?.score).toBeCloseTo(1 / 62 + 1 / 61, 12);
});
