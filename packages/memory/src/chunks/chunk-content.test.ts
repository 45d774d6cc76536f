import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Chunk, type ChunkOptions, chunkContent } from "./chunk-content.ts";
import { outlineOf } from "./outline-of.ts";

/** What holds for the chunks of any text. */
function check(text: string, options: ChunkOptions): readonly Chunk[] {
  const chunks = chunkContent(text, options);
  let at = 0;
  for (const { text: own, start, end, heading } of chunks) {
    expect(start).toBe(at);
    at = end;
    expect(own.length).toBeLessThanOrEqual(options.maxLength);
    expect(own.isWellFormed() || !text.isWellFormed()).toBe(true);
    expect(heading.length).toBeLessThanOrEqual(150);
  }
  expect(at).toBe(text.length);
  if (text !== "") for (const { start, end } of chunks) expect(end).toBeGreaterThan(start);
  return chunks;
}

const texts = (chunks: readonly Chunk[]) => chunks.map(({ text }) => text);
const names = (chunks: readonly Chunk[]) => chunks.map(({ heading }) => heading);

const line = fc.oneof(
  { weight: 4, arbitrary: fc.lorem({ maxCount: 12 }) },
  fc.constantFrom(
    "",
    "",
    "# One",
    "## Two",
    "### Three",
    "#### Four",
    "```",
    "```js",
    "~~~",
    "````",
    "| a | b |",
    "|---|---|",
    "| 1 | 2 |",
    "👍👍👍",
    "a,b,c",
    '"x',
    "  ",
    "\t",
    "\r",
  ),
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.integer({ min: 1, max: 400 }).map((n) => "👍".repeat(n)),
);
const markdown = fc.array(line, { maxLength: 60 }).map((lines) => lines.join("\n"));
const maxLength = fc.integer({ min: 64, max: 500 });

describe("any text", () => {
  test("is covered exactly by chunks that keep the bound and pairs of surrogates", () => {
    fc.assert(fc.property(markdown, maxLength, (text, max) => void check(text, { maxLength: max })));
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 2_000 }),
        maxLength,
        (text, max) => void check(text, { maxLength: max }),
      ),
    );
  });

  test("without any line end is cut at the bound", () => {
    expect(texts(check("x".repeat(250), { maxLength: 100 }))).toEqual([
      "x".repeat(100),
      "x".repeat(100),
      "x".repeat(50),
    ]);
    expect(texts(check("", { maxLength: 100 }))).toEqual([""]);
  });

  test("cannot be cut to nothing", () => {
    expect(() => chunkContent("x", { maxLength: 63 })).toThrow(RangeError);
  });
});

describe("markdown", () => {
  test("ends chunks at headings, of the highest level best, and keeps a heading with its text", () => {
    const text = `before\n# One\n## Two\n${"t".repeat(80)}\n### Three\n${"t".repeat(15)}\n# Four\n#### Five\n${"t".repeat(70)}\n`;
    const chunks = check(text, { maxLength: 140, form: "markdown" });
    expect(
      chunks.map(({ heading, level, sections }) => [heading, level, sections.map((section) => section.heading)]),
    ).toEqual([
      ["One … Three", 1, ["One", "Two", "Three"]],
      ["Four", 1, ["Four"]],
    ]);
    expect(names(check(text, { maxLength: 100, form: "markdown" }))).toEqual(["", "One … Two", "Three", "Four"]);
  });

  test("has short sections together, and neither a heading alone nor a mere rest", () => {
    const sections = (count: number, length: number) =>
      Array.from({ length: count }, (_, i) => `# Section ${i}\n\n${"w ".repeat(length / 2 - 7)}\n\n`).join("");
    expect(check("# a\n".repeat(5_000), { maxLength: 1_000 })).toHaveLength(20);
    expect(check(sections(100, 1_000), { maxLength: 64_000 })).toHaveLength(2);
    expect(check(sections(100, 1_000), { maxLength: 4_000 }).length).toBeLessThan(40);
    expect(check("a line of the list\n".repeat(25_667).slice(0, 462_000), { maxLength: 20_500 })).toHaveLength(23);
    for (const text of [
      "x".repeat(64_001),
      `${"y".repeat(99)}\n`.repeat(640).concat("z"),
      `# A\n\n## B\n${"x".repeat(63_998)}\n`,
      `id,b\n${"1,2\n".repeat(16_000)}`,
    ]) {
      const chunks = check(text, { maxLength: 64_000 });
      expect(chunks.map(({ start, end }) => end - start >= 8_000)).toEqual([true, true]);
    }
  });

  test("a long section is split at blank lines, and its further parts are named as continued", () => {
    const paragraph = (letter: string) => `${letter.repeat(30)}\n${letter.repeat(29)}\n\n`;
    const chunks = check(`# Long\n\n${paragraph("a")}${paragraph("b")}${paragraph("c")}`, { maxLength: 75 });
    expect(texts(chunks)).toEqual([`# Long\n\n${paragraph("a")}`, paragraph("b"), paragraph("c")]);
    expect(names(chunks)).toEqual(["Long", "Long (continued 1)", "Long (continued 2)"]);
  });

  test("is not split at a heading within a code fence, and a fence that fits is not cut", () => {
    const fence = `\`\`\`sh\n# no heading\n\n${"x".repeat(40)}\n\`\`\`\n`;
    const chunks = check(`${"a ".repeat(30)}\n\n${fence}\nafter\n`, { maxLength: 90 });
    expect(texts(chunks).filter((text) => text.includes("# no heading"))).toEqual([expect.stringContaining(fence)]);
    expect(names(chunks)).not.toContain("no heading");
  });

  test("a fence that is too long is closed and opened again", () => {
    const chunks = check(`\`\`\`js\n${"line();\n".repeat(60)}\`\`\`\nafter\n`, { maxLength: 100 });
    for (const { text } of chunks) {
      expect(text).toMatch(/^```js\n/);
      expect(text).toMatch(/\n```\n(after\n)?$/);
    }
  });

  test("no row of a table is cut that fits, and a chunk that begins within a table repeats its header", () => {
    const rows = Array.from({ length: 60 }, (_, i) => `| ${i} | ${"y".repeat(20 + (i % 17))} |\n`);
    const chunks = check(`# Table\n\n| n | y |\n|---|---|\n${rows.join("")}\nafter\n`, { maxLength: 200 });
    expect(chunks.slice(1, -1).every(({ text }) => text.startsWith("| n | y |\n|---|---|\n|"))).toBe(true);
    for (const row of rows) expect(texts(chunks).filter((text) => text.includes(row))).toHaveLength(1);
  });

  test("no line is cut that fits in a chunk", () => {
    fc.assert(
      fc.property(fc.array(fc.lorem({ maxCount: 10 }), { minLength: 1, maxLength: 80 }), (lines) => {
        const text = lines.join("\n");
        const chunks = check(text, { maxLength: 500, form: "markdown" });
        for (const { start } of chunks.slice(1)) expect(text[start - 1]).toBe("\n");
      }),
    );
  });
});

/** Markdown of blocks that are each known, with a number of its own in each of its lines. */
const blocks = fc
  .array(
    fc.oneof(
      fc.record({
        kind: fc.constant("text" as const),
        lines: fc.array(fc.nat({ max: 150 }), { minLength: 1, maxLength: 6 }),
      }),
      fc.record({ kind: fc.constant("fence" as const), lines: fc.array(fc.nat({ max: 90 }), { maxLength: 30 }) }),
      fc.record({
        kind: fc.constant("table" as const),
        lines: fc.array(fc.nat({ max: 90 }), { minLength: 1, maxLength: 30 }),
      }),
      fc.record({
        kind: fc.constant("heading" as const),
        lines: fc.array(fc.nat({ max: 20 }), { minLength: 1, maxLength: 1 }),
      }),
    ),
    { maxLength: 12 },
  )
  .map((list) => {
    let id = 0;
    return list.map(({ kind, lines: lengths }) => {
      const own = lengths.map((length) => `${kind}${++id} ${"z".repeat(length)}`);
      if (kind === "fence")
        return { kind, lines: own, text: `\`\`\`js\n${own.map((line) => `${line}\n`).join("")}\`\`\`\n\n` };
      if (kind === "table")
        return { kind, lines: own, text: `| a |\n|---|\n${own.map((line) => `| ${line} |\n`).join("")}\n` };
      return {
        kind,
        lines: own,
        text: `${own.map((line) => (kind === "heading" ? `## ${line}` : line)).join("\n")}\n\n`,
      };
    });
  });

describe("markdown of known blocks", () => {
  const chunksOf = (known: { readonly text: string }[], max: number) =>
    check(known.map(({ text }) => text).join(""), { maxLength: max, form: "markdown" });

  test("no line, row or fence is cut that fits in a chunk with the headings before it", () => {
    fc.assert(
      fc.property(blocks, fc.integer({ min: 200, max: 900 }), (known, max) => {
        const chunks = texts(chunksOf(known, max));
        let led = 0;
        for (const { kind, lines, text } of known) {
          for (const [at, line] of lines.entries())
            if (at > 0 || led + line.length + 30 <= max)
              expect(
                chunks.filter((chunk) => chunk.includes(line)),
                line,
              ).toHaveLength(1);
          if (kind === "fence" && lines.length > 0 && led + text.length <= max)
            expect(chunks.filter((chunk) => chunk.includes(text.trimEnd()))).toHaveLength(1);
          led = kind === "heading" ? led + text.length : 0;
        }
      }),
    );
  });

  test("every fence is closed in the chunk that opens it, and every row has its header before it", () => {
    fc.assert(
      fc.property(blocks, fc.integer({ min: 200, max: 900 }), (known, max) => {
        for (const chunk of texts(chunksOf(known, max))) {
          let isOpen = false;
          let hasHeader = false;
          for (const line of chunk.split("\n")) {
            if (line.startsWith("```")) isOpen = !isOpen;
            if (line.startsWith("| a |")) hasHeader = true;
            else if (line.startsWith("| table")) expect(hasHeader, chunk).toBe(true);
            if (line.startsWith("fence")) expect(isOpen, chunk).toBe(true);
            if (line.startsWith("text")) expect(isOpen, chunk).toBe(false);
          }
          expect(isOpen, chunk).toBe(false);
        }
      }),
    );
  });

  test("every heading is in the outline once, and every chunk has a key there", () => {
    fc.assert(
      fc.property(blocks, fc.integer({ min: 200, max: 900 }), (known, max) => {
        const chunks = chunksOf(known, max);
        const headings = known.filter(({ kind }) => kind === "heading").flatMap(({ lines }) => lines);
        const sections = chunks.flatMap((chunk) => chunk.sections.map(({ heading }) => heading.trim()));
        expect(sections.filter((name) => !name.includes("(continued"))).toEqual(headings.map((line) => line.trim()));
        const keys = [...outlineOf(chunks, (i) => `key-${i}`).matchAll(/→ `(key-\d+)`/g)].map(([, key]) => key);
        expect([...new Set(keys)]).toEqual(chunks.map((_, i) => `key-${i}`));
      }),
    );
  });
});

test("no record of CSV is cut that fits in a chunk with the header, whatever is quoted", () => {
  const field = fc.oneof(
    fc.nat().map(String),
    fc.string({ maxLength: 15 }).map((text) => `"${text.replaceAll('"', '""')}\n,"`),
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(field, field), { minLength: 3, maxLength: 60 }),
      fc.integer({ min: 150, max: 500 }),
      (rows, max) => {
        const records = rows.map(([a, b], i) => `row${i},${a},${b}\n`);
        const chunks = texts(check(`id,a,b\n${records.join("")}`, { maxLength: max, form: "csv" }));
        expect(chunks.map((chunk) => chunk.slice("id,a,b\n".length)).join("")).toBe(records.join(""));
        for (const chunk of chunks) expect(chunk).toMatch(/^id,a,b\n(row|$)/);
      },
    ),
  );
});

describe("JSON", () => {
  test("is split between elements at the level nearest to the root, and each chunk is JSON with the path", () => {
    const items = Array.from({ length: 40 }, (_, i) => ({ id: i, name: `name ${i}` }));
    const chunks = check(JSON.stringify({ meta: { page: 1 }, data: { items }, next: null }), { maxLength: 200 });
    const parsed = texts(chunks).map((text) => JSON.parse(text) as { data?: { items?: unknown[] }; next?: null });
    expect(parsed.flatMap(({ data }) => data?.items ?? [])).toEqual(items);
    expect(names(chunks)[1]).toMatch(/^\$\.data\.items\[0\.\.\d+\]$/);
    expect(parsed.at(-1)).toHaveProperty("next", null);
  });

  test("any value that is split gives JSON texts", () => {
    const value = fc.oneof(
      fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 40 }),
      fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 30 }),
    );
    fc.assert(
      fc.property(value, fc.boolean(), (json, isPretty) => {
        const text = isPretty ? JSON.stringify(json, null, 1) : JSON.stringify(json);
        const chunks = check(text, { maxLength: 2_000, form: "json" });
        for (const { text: own } of chunks) expect(() => JSON.parse(own), own).not.toThrow();
        if (Array.isArray(json) && chunks.every(({ heading }) => /^\$\[[^.]+\.\.\d*\]$/.test(heading))) {
          expect(texts(chunks).flatMap((own) => JSON.parse(own) as unknown[])).toEqual(JSON.parse(text));
        }
      }),
    );
  });

  test("a string that is too long is cut between its characters and escapes, and put in quotes again", () => {
    const long = 'é"\\👍\u0007'.repeat(200);
    const chunks = check(JSON.stringify({ a: { b: [1, long, 2] } }), { maxLength: 150 });
    const parts = texts(chunks).flatMap((text) => (JSON.parse(text) as { a: { b: unknown[] } }).a.b);
    expect(parts.filter((part) => typeof part === "string").join("")).toBe(long);
  });

  test.each(["[link](https://example.com/)", "[1, 2", "{a}", "[]x", `${"[".repeat(300)}${"]".repeat(300)}`])(
    "%s is not JSON that is split",
    (text) => {
      const chunks = check(`${text} ${"word ".repeat(30)}`, { maxLength: 100 });
      expect(names(chunks)[0]).toBe("");
    },
  );
});

describe("CSV", () => {
  test("is split between records, and each chunk repeats the header", () => {
    const rows = Array.from({ length: 50 }, (_, i) => `${i},"multi\nline ${i}",${"z".repeat(i % 7)}\n`);
    const chunks = check(`id,text,z\n${rows.join("")}`, { maxLength: 150 });
    expect(texts(chunks).every((text) => text.startsWith("id,text,z\n"))).toBe(true);
    for (const row of rows) expect(texts(chunks).filter((text) => text.includes(row))).toHaveLength(1);
    expect(names(chunks)[0]).toMatch(/^Rows 1 to \d+$/);
    expect(names(chunks).at(-1)).toMatch(/ 50$/);
  });

  test("prose with commas is no CSV", () => {
    const chunks = check("Well, yes.\nNo.\nPerhaps, or, maybe.\n".repeat(10), { maxLength: 100 });
    expect(names(chunks)[0]).toBe("");
  });
});

test("the outline nests headings, names what has none by its number, and leads to the keys", () => {
  const text = `${"before\n".repeat(12)}# One\n## Two\n### Three\n${"text\n".repeat(30)}`;
  expect(outlineOf(chunkContent(text, { maxLength: 100 }), (i) => `k/${i}`)).toBe(
    "## Document Outline\n\n- **Part 0** → `k/0`\n- **One** → `k/1`\n  - **Two** → `k/1`\n    - **Three** → `k/1`\n    - **Three (continued 1)** → `k/2`",
  );
  expect(outlineOf([], String)).toBe("");
});
