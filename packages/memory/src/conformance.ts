import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { MemoryChangedError } from "./memory-changed-error.ts";
import type { MemoryLimits } from "./memory-limits.ts";
import type { OwnedMemory, WorkingMemory } from "./working-memory.ts";

type Bounds = Partial<Omit<MemoryLimits, "maxTotalBytes">>;

/** The promises of every working memory, as tests. `create` makes or connects an empty one each time. */
export function testWorkingMemory(name: string, create: (limits?: Bounds) => Promise<WorkingMemory>): void {
  describe(name, () => {
    testKeeping(create);
    testConditions(create);
    testBounds(create);
    testReading(create);
    testFinding(create);
  });
}

function testKeeping(create: (limits?: Bounds) => Promise<WorkingMemory>): void {
  test("keeps a text with its facts until it is deleted, and the later of two under one key", async () => {
    await using memory = await create();
    const own = memory.of("someone");
    const before = Date.now();
    await own.set("session/a/x", "one");
    await own.set("session/a/x", "two", {
      category: "notes",
      tags: ["t", "ü"],
      isUntrusted: true,
      origin: "https://example.com/",
    });
    const entry = await own.get("session/a/x");
    expect(entry).toMatchObject({
      value: "two",
      length: 3,
      category: "notes",
      tags: ["t", "ü"],
      isUntrusted: true,
      origin: "https://example.com/",
    });
    expect(entry?.storedAt).toBeGreaterThan(before - 60_000);
    expect(Math.abs(Number(entry?.expiresAt) - Number(entry?.storedAt) - 300_000)).toBeLessThan(2);
    expect(await own.delete("session/a/x")).toBe(true);
    expect(await own.delete("session/a/x")).toBe(false);
    expect(await own.get("session/a/x")).toBeUndefined();
  });

  test("an entry is gone once its time is over, and takes no room any more", async () => {
    await using memory = await create({ maxEntries: 1 });
    const own = memory.of("someone");
    await own.set("session/a/short", "soon gone", { ttlMs: 30 });
    await expect.poll(() => own.get("session/a/short")).toBeUndefined();
    expect(await own.list("session/a/")).toEqual([]);
    await own.set("session/a/next", "fits");
    expect(await own.delete("session/a/short")).toBe(false);
    expect(await own.get("session/a/next")).toMatchObject({ value: "fits" });
  });

  test("owners have memories of their own, and namespaces of one owner are apart", async () => {
    await using memory = await create();
    await memory.of("one").set("session/a/x", "one's");
    await memory.of("two/../one").set("session/a/x", "two's");
    await memory.of("one").set("session/ab/x", "other session");
    expect(await memory.of("one").get("session/a/x")).toMatchObject({ value: "one's" });
    expect(await memory.of("two/../one").get("session/a/x")).toMatchObject({ value: "two's" });
    expect((await memory.of("one").list("session/a/")).map(({ key }) => key)).toEqual(["session/a/x"]);
    expect(await memory.of("nobody").list("")).toEqual([]);
  });

  test.each(["", "a".repeat(513), "a\nb", "a\u0000", "\ud800"])("refuses the key %j", async (key) => {
    await using memory = await create();
    await expect(memory.of("someone").set(key, "x")).rejects.toThrow(RangeError);
    await expect(memory.of("someone").get(key)).rejects.toThrow(RangeError);
  });

  test("takes keys and texts of any characters as they are, in any number at once", async () => {
    await using memory = await create();
    const own = memory.of("someone");
    const texts = [
      "",
      "plain",
      "é",
      "漢字",
      "👍",
      "\ud800 lone",
      "\0\r\n",
      `${"é".repeat(300_000)}end`,
      `${"漢".repeat(300_000)}end`,
    ];
    const entries = texts.map((value, i) => ({ key: `session/a/:{}*?[\\ü${i}`, value }));
    await own.setAll(entries);
    for (const { key, value } of entries) expect((await own.get(key))?.value === value, key).toBe(true);
    expect(await own.list("session/a/:{}*?[\\ü")).toHaveLength(texts.length);
  });
}

function testConditions(create: (limits?: Bounds) => Promise<WorkingMemory>): void {
  test("a text with a condition is kept only in place of the version that was read", async () => {
    await using memory = await create();
    const own = memory.of("someone");
    await expect(own.set("session/a/x", "one", { ifVersion: "0123456789abcdef" })).rejects.toMatchObject({
      name: "MemoryChangedError",
      version: undefined,
    });
    const first = await own.set("session/a/x", "one", { ifVersion: null });
    expect((await own.get("session/a/x"))?.version).toBe(first);
    await expect(own.set("session/a/x", "two", { ifVersion: null })).rejects.toMatchObject({ version: first });
    const second = await own.set("session/a/x", "two", { ifVersion: first });
    expect(second).not.toBe(first);
    await expect(own.set("session/a/x", "three", { ifVersion: first })).rejects.toMatchObject({ version: second });
    expect(await own.get("session/a/x")).toMatchObject({ value: "two", version: second });
    expect(await own.list("session/a/")).toMatchObject([{ version: second }]);
    await own.set("session/a/short", "soon gone", { ttlMs: 30 });
    await expect
      .poll(() => own.set("session/a/short", "new", { ifVersion: null }).catch(() => undefined))
      .toMatch(/^[0-9a-f]{16}$/);
  });

  test("of writers that add to one entry at once, none writes over another", async () => {
    await using memory = await create();
    const add = async (line: string): Promise<void> => {
      for (;;) {
        const entry = await memory.of("someone").get("session/a/x");
        try {
          await memory
            .of("someone")
            .set("session/a/x", `${entry?.value ?? ""}${line}`, { ifVersion: entry?.version ?? null });
          return;
        } catch (error) {
          if (!(error instanceof MemoryChangedError)) throw error;
        }
      }
    };
    await Promise.all([..."abcdefgh"].map(add));
    expect([...((await memory.of("someone").get("session/a/x"))?.value ?? "")].toSorted().join("")).toBe("abcdefgh");
  });
}

function testBounds(create: (limits?: Bounds) => Promise<WorkingMemory>): void {
  test("refuses one entry too many in words, and keeps what it has", async () => {
    await using memory = await create();
    const own = memory.of("someone");
    for (let i = 0; i < 50; i++) await own.set(`session/a/${i}`, "x");
    const refused = own.set("session/a/50", "x");
    await expect(refused).rejects.toMatchObject({
      name: "MemoryFullError",
      message: expect.stringMatching(/"session\/a" may have 50 entries.*Delete.*in \d+ s/),
    });
    await own.set("session/a/7", "overwritten");
    await own.set("session/b/50", "another namespace");
    await own.set("session/a/chunk", "a chunk", { isChunk: true });
    await own.delete("session/a/0");
    await own.set("session/a/50", "x");
    expect(await own.list("session/a/")).toHaveLength(51);
  });

  test("keeps several at once or none, and counts chunks apart from entries", async () => {
    await using memory = await create({ maxChunks: 3, maxEntries: 1 });
    const own = memory.of("someone");
    await own.set("session/a/entry", "x");
    const chunks = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => ({ key: `session/a/c${from + i}`, value: "x".repeat(100_000) }));
    await own.setAll(chunks(0, 2), { isChunk: true });
    await expect(own.setAll(chunks(1, 4), { isChunk: true })).rejects.toMatchObject({
      name: "MemoryFullError",
      message: expect.stringContaining("3 chunks"),
    });
    expect((await own.list("session/a/")).map(({ key }) => key)).toEqual([
      "session/a/c0",
      "session/a/c1",
      "session/a/entry",
    ]);
    await own.setAll(chunks(0, 3), { isChunk: true });
  });

  test("bounds the bytes of an owner, over all namespaces: its entries that end first give way", async () => {
    await using memory = await create({ maxBytes: 10_000 });
    const own = memory.of("someone");
    const keys = async () => (await own.list("")).map(({ key }) => key);
    await memory.of("another").set("session/a/x", "x".repeat(9_000));
    await own.set("session/a/late", "x".repeat(4_000), { ttlMs: 3_600_000 });
    await own.set("session/a/early", "x".repeat(3_000), { ttlMs: 60_000 });
    await own.set("session/b/x", "x".repeat(3_000), { ttlMs: 600_000 });
    expect(await keys()).toEqual(["session/a/late", "session/b/x"]);
    await own.set("session/b/x", "漢".repeat(2_400), { ttlMs: 600_000 }); // in place of the first, and with two bytes for each character
    expect(await keys()).toEqual(["session/a/late", "session/b/x"]);
    const tooLarge = own.set("session/b/y", "x".repeat(10_000));
    await expect(tooLarge).rejects.toMatchObject({
      name: "MemoryFullError",
      message: expect.stringContaining("10000 bytes"),
    });
    expect(await keys()).toEqual(["session/a/late", "session/b/x"]);
    expect(await memory.of("another").list("")).toHaveLength(1);
  });

  test("says at once all that is wrong with an entry", async () => {
    await using memory = await create();
    const wrong = memory
      .of("someone")
      .set("session/a/x", "x", { ttlMs: 0, category: "c".repeat(65), tags: Array.from({ length: 21 }, String) });
    await expect(wrong).rejects.toThrow(/time must be.*category.*tags/);
  });
}

function testReading(create: (limits?: Bounds) => Promise<WorkingMemory>): void {
  test("reads a large text by ranges that meet, and cuts no pair of surrogates", async () => {
    await using memory = await create();
    const own = memory.of("someone");
    const text = `a${"👍".repeat(400_000)}`;
    await own.set("session/a/x", text);
    let read = "";
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const part = await own.read("session/a/x", { offset, length: 300_000 });
      expect(part?.text.isWellFormed()).toBe(true);
      expect(part?.length).toBe(text.length);
      read += part?.text;
      offset = part?.nextOffset;
    }
    expect(read === text).toBe(true);
    expect(await own.read("session/a/x", { offset: text.length + 5 })).toMatchObject({
      text: "",
      nextOffset: undefined,
    });
    expect(await own.read("session/a/none")).toBeUndefined();
    await expect(own.read("session/a/x", { offset: -1 })).rejects.toThrow(RangeError);
  });

  test("a text that is overwritten while it is read comes as one of the two", async () => {
    await using memory = await create();
    const own = memory.of("someone");
    const texts = ["a", "b"].map((letter) => letter.repeat(1_500_000));
    await own.set("session/a/x", texts[0] as string);
    const writing = (async () => {
      for (let i = 0; i < 3; i++) await own.set("session/a/x", texts[i % 2] as string);
    })();
    for (let i = 0; i < 5; i++) {
      const read = await own.get("session/a/x").catch((error: Error) => error.name);
      expect(read === "StoreUnavailableError" || texts.includes((read as { value: string }).value)).toBe(true);
    }
    await writing;
  });
}

function testFinding(create: (limits?: Bounds) => Promise<WorkingMemory>): void {
  const filled = async (memory: WorkingMemory): Promise<OwnedMemory> => {
    const own = memory.of(randomBytes(4).toString("hex"));
    await own.set("session/a/page_one", "The opening hours of the shop.\nNine to five.", {
      category: "web/pages",
      tags: ["shop", "hours"],
    });
    await own.set("session/a/page-two", "Prices, and nothing else.\nShop prices.\nOPENING soon", {
      category: "web",
      tags: ["shop"],
    });
    await own.set("session/a/other", "Something else", { category: "webs" });
    await own.set("session/b/page", "opening hours", { category: "web" });
    return own;
  };

  test("finds entries by words in keys, texts, tags and categories, the best first", async () => {
    await using memory = await create();
    const own = await filled(memory);
    const keys = async (query: string) => (await own.search({ prefix: "session/a/", query })).map(({ key }) => key);
    expect(await keys("opening hours")).toEqual(["session/a/page_one", "session/a/page-two"]);
    expect(await keys("two")).toEqual(["session/a/page-two"]);
    expect(await keys("WEBS")).toEqual(["session/a/other"]);
    expect(await keys("nowhere")).toEqual([]);
    expect((await own.search({ prefix: "session/a/", query: "nine" }))[0]).toMatchObject({
      beginning: "The opening hours of the shop.\nNine to five.",
      length: 44,
    });
  });

  test("narrows by category and tags, and lists the newest first without words", async () => {
    await using memory = await create();
    const own = await filled(memory);
    const keys = async (query: object) =>
      (await own.search({ prefix: "session/a/", ...query })).map(({ key }) => key).sort();
    expect(await keys({ category: "WEB" })).toEqual(["session/a/page-two", "session/a/page_one"]);
    expect(await keys({ category: "web/pages", query: "shop" })).toEqual(["session/a/page_one"]);
    expect(await keys({ tags: ["SHOP", "hours"] })).toEqual(["session/a/page_one"]);
    await expect
      .poll(async () => {
        await own.set("session/a/other", "Something else");
        return (await own.search({ prefix: "session/a/", limit: 1 })).map(({ key }) => key);
      })
      .toEqual(["session/a/other"]);
  });

  test("finds the places of a text where another stands", async () => {
    await using memory = await create();
    const own = await filled(memory);
    expect(await own.find("session/a/page-two", { text: "PRICES", contextLines: 1 })).toMatchObject({
      total: 2,
      lines: 3,
      matches: [
        { line: 1, offset: 0, excerpt: "1:Prices, and nothing else.\n2-Shop prices." },
        { line: 2, offset: 31, excerpt: "1-Prices, and nothing else.\n2:Shop prices.\n3-OPENING soon" },
      ],
    });
    expect(await own.find("session/a/none", { text: "x" })).toBeUndefined();
  });
}
