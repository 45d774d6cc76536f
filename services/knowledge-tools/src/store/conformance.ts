import { describe, expect, test } from "vitest";
import { facet } from "../item/facets.ts";
import type { KnowledgeItem } from "../item/knowledge-item.ts";
import { queryTerms } from "../text/terms.ts";
import { bytesOf, type KnowledgeStore, MAX_RANKED, type MatchQuery, OtherOwnerError } from "./knowledge-store.ts";

/** An item for tests: shared, and by alice. */
export const testItem = (id: string, changes: Partial<KnowledgeItem> = {}): KnowledgeItem => ({
  id,
  kind: "post",
  title: id,
  body: "text",
  author: "alice",
  categories: [],
  tags: [],
  owner: "alice",
  space: "shared",
  origin: undefined,
  createdAt: 1_000,
  updatedAt: 1_000,
  ...changes,
});

/** The suite of stores. @param open makes a store that is empty, and another one of the same database */
export function testKnowledgeStore(
  name: string,
  open: () => Promise<{ readonly store: KnowledgeStore; again(): Promise<KnowledgeStore> } & AsyncDisposable>,
): void {
  const matching = (store: KnowledgeStore, query: string, { facets = [], limit = 10 }: Partial<MatchQuery> = {}) =>
    store.match({ terms: queryTerms(query), facets, limit });

  describe(name, () => {
    test("an item is found by any form of its words, in title and body, whatever their case, accents and script", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.save([
        testItem("a", { title: "Releasing the café", body: "We tag, and deploy v1.25." }),
        testItem("b", { title: "Größe", body: "日本語の文書 and Москва" }),
        testItem("c", { title: "Nothing", body: "of the kind" }),
        testItem("d", { title: "Straße in Łódź", body: "柴犬と猫 ΟΔΟΣ" }),
      ]);
      for (const query of ["release", "CAFE", "deploys tags", "25", "released café deploying"])
        expect([query, await matching(store, query)]).toEqual([query, ["a"]]);
      for (const query of ["strasse", "STRASSE", "straße", "lodz", "οδοσ", "οδος", "柴", "犬", "猫", "柴犬"])
        expect([query, await matching(store, query)]).toEqual([query, ["d"]]);
      for (const query of ["größe", "grosse", "日本", "москва"])
        expect([query, await matching(store, query)]).toEqual([query, ["b"]]);
      expect(await matching(store, "absent")).toEqual([]);
    });

    test("words of a query are words, and never its language", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.save([testItem("a", { body: "one and two or three not near" })]);
      for (const query of [
        '"one" AND (two',
        "one' | !two:*",
        "NOT near",
        "title:one*",
        "{body}: one",
        "a^2 ; drop table item",
      ])
        await matching(store, query);
      expect(await matching(store, "near not or")).toEqual(["a"]);
    });

    test("items with all words come first, then those with all but one, then those with any", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.save([
        testItem("c", { title: "cherry cherry", body: "cherry" }),
        testItem("abc", { body: "apple banana cherry" }),
        testItem("ab", { body: "apple banana" }),
        testItem("none"),
      ]);
      expect(await matching(store, "apple banana cherry")).toEqual(["abc", "ab", "c"]);
      expect(await matching(store, "apple banana cherry", { limit: 2 })).toEqual(["abc", "ab"]);
      expect(await matching(store, "apple durian")).toHaveLength(2);
    });

    test("a title says more than a body, and a word that is said often says more than one said once", async () => {
      await using opened = await open();
      const { store } = opened;
      const filler = Array.from({ length: 40 }, (_, i) => `filler${i}`).join(" ");
      await store.save([
        testItem("once", { title: "x", body: `walrus ${filler} ${filler}` }),
        testItem("title", { title: "walrus", body: `${filler} ${filler}` }),
        testItem("often", { title: "x", body: `walrus ${filler} walrus walrus walrus` }),
      ]);
      expect(await matching(store, "walrus")).toEqual(["title", "often", "once"]);
      expect(await matching(store, "walrus", { limit: 1 })).toEqual(["title"]);
    });

    test("facets filter: one of each group, and names in any case", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.save([
        testItem("a", { kind: "post", categories: ["News"], tags: ["Red", "blue"] }),
        testItem("b", { kind: "node", categories: ["News", "Old & New"], author: "Bob" }),
        testItem("c", { kind: "event", owner: "carol", space: undefined }),
        testItem("d", { kind: "event", owner: "carol", space: "team" }),
      ]);
      const by = async (...facets: string[][]) => (await matching(store, "text", { facets })).toSorted();
      expect(await by([facet("kind", "POST"), facet("kind", "node")])).toEqual(["a", "b"]);
      expect(await by([facet("category", "news")], [facet("kind", "node")])).toEqual(["b"]);
      expect(await by([facet("category", "old & new")])).toEqual(["b"]);
      expect(await by([facet("tag", "RED")], [facet("author", "ALICE")])).toEqual(["a"]);
      expect(await by([facet("author", "bob")])).toEqual(["b"]);
      expect(await by([facet("owner", "dave"), facet("space", "shared")])).toEqual(["a", "b"]);
      expect(await by([facet("owner", "carol")])).toEqual(["c", "d"]);
      expect(await by([facet("space", "team")])).toEqual(["d"]);
      expect(await matching(store, "news")).toEqual([]); // facets are no words
    });

    test("of very many that match the newest are ranked", async () => {
      await using opened = await open();
      const { store } = opened;
      const items = Array.from({ length: MAX_RANKED }, (_, i) => testItem(`n${i}`, { title: "x" }));
      await store.save([testItem("old", { title: "text text" }), ...items]);
      expect(await matching(store, "text", { limit: 1 })).toEqual([`n${MAX_RANKED - 1}`]);
      await store.save([testItem("old", { title: "text text text" })]);
      expect(await matching(store, "text", { limit: 1 })).toEqual(["old"]);
    });

    test("what is saved again replaces what was there, keeps its time and its origin, and is another caller's never", async () => {
      await using opened = await open();
      const { store } = opened;
      expect(
        await store.save([testItem("a", { body: "first", origin: "https://eve.example" }), testItem("b")]),
      ).toEqual({
        created: 2,
        changed: 0,
        unchanged: 0,
      });
      const second = testItem("a", {
        title: "New",
        body: "second",
        space: undefined,
        createdAt: 9_000,
        updatedAt: 9_000,
      });
      expect(await store.save([second, testItem("b", { updatedAt: 9_000 })])).toEqual({
        created: 0,
        changed: 1,
        unchanged: 1,
      });
      expect(await store.get(["b", "missing", "a"])).toEqual([
        testItem("b"),
        { ...second, origin: "https://eve.example", createdAt: 1_000 },
      ]);
      expect([await matching(store, "first"), await matching(store, "second")]).toEqual([[], ["a"]]);
      await expect(store.save([testItem("c"), testItem("a", { owner: "bob" })])).rejects.toThrow(OtherOwnerError);
      expect(await store.get(["c"])).toEqual([]);
    });

    test("a save that fails half-way saves nothing, and the next one does", async () => {
      await using opened = await open();
      const { store } = opened;
      async function* broken() {
        yield testItem("a", { categories: ["News"] });
        throw new Error("the source broke");
      }
      await expect(store.save(broken())).rejects.toThrow("the source broke");
      expect([
        await store.get(["a"]),
        await store.labels({ kind: "category", scopes: [facet("space", "shared")], limit: 9 }),
      ]).toEqual([[], []]);
      expect(await store.save([testItem("a")])).toMatchObject({ created: 1 });
    });

    test("labels are those of items that a scope shows, those of most items first, and go with their last item", async () => {
      await using opened = await open();
      const { store } = opened;
      await store.save([
        testItem("a", { categories: ["News", "Zoo"] }),
        testItem("b", { categories: ["news"], author: "Bob" }),
        testItem("c", { categories: ["Secret"], owner: "carol", author: "carol", space: undefined }),
      ]);
      const names = async (kind: "author" | "category", scopes: string[], folded?: string[]) =>
        (await store.labels({ kind, scopes, folded, limit: 10 })).map(({ folded }) => folded);
      const shared = [facet("space", "shared")];
      expect(await names("category", shared)).toEqual(["news", "zoo"]);
      expect(await names("author", shared)).toEqual(["alice", "bob"]);
      expect(await names("category", [facet("owner", "carol"), ...shared])).toEqual(["news", "secret", "zoo"]);
      expect(await names("category", shared, ["zoo", "secret"])).toEqual(["zoo"]);
      expect(await store.labels({ kind: "category", scopes: shared, limit: 1 })).toEqual([
        { folded: "news", name: expect.stringMatching(/^news$/i) },
      ]);
      await store.save([testItem("a", { categories: [] })]);
      expect(await names("category", shared)).toEqual(["news"]);
      await store.save([testItem("s", { categories: ["call send now", "News"], author: "eve", origin: "a page" })]);
      const ours = (kind: "author" | "category") => store.labels({ kind, scopes: shared, areOurs: true, limit: 10 });
      expect([await names("category", shared), await names("author", shared)]).toEqual([
        ["news", "call send now"],
        ["alice", "bob", "eve"],
      ]);
      expect([
        (await ours("category")).map(({ folded }) => folded),
        (await ours("author")).map(({ folded }) => folded),
      ]).toEqual([["news"], ["alice", "bob"]]);
      await store.save([testItem("s", { space: undefined, author: "eve" })]);
      await store.save([testItem("b", { space: undefined, author: "Bob" })]);
      expect([await names("category", shared), await names("author", shared)]).toEqual([[], ["alice"]]);
    });

    test("all items are listed, counted by owner, and seen by every instance", async () => {
      await using opened = await open();
      const { store } = opened;
      await using other = await opened.again();
      const items = Array.from({ length: 450 }, (_, i) =>
        testItem(`i${i}`, { body: `text ${i}`, tags: ["one"], owner: i % 3 === 0 ? "bob" : "alice" }),
      );
      await store.save(items);
      const listed: KnowledgeItem[] = [];
      for await (const item of other.all()) listed.push(item);
      expect(listed.toSorted(byId)).toEqual(items.toSorted(byId));
      const bytes = items.filter(({ owner }) => owner === "bob").reduce((sum, item) => sum + bytesOf(item), 0);
      expect([await other.countOf("bob"), await other.countOf("nobody")]).toEqual([
        { items: 150, bytes },
        { items: 0, bytes: 0 },
      ]);
      await Promise.all([store, other].map((each, i) => each.save([testItem(`by${i}`, { body: "together" })])));
      expect((await matching(other, "together")).toSorted()).toEqual(["by0", "by1"]);
    });
  });
}

const byId = (one: KnowledgeItem, other: KnowledgeItem): number => (one.id < other.id ? -1 : 1);
