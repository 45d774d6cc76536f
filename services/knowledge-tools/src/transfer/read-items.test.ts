import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import type { KnowledgeItem } from "../item/knowledge-item.ts";
import { type ItemDefaults, readItems } from "./read-items.ts";
import { itemLine } from "./write-items.ts";

const defaults: ItemDefaults = {
  owner: "operator",
  space: "shared",
  origin: undefined,
  kinds: ["node", "post"],
  at: 5_000,
};

async function itemsOf(path: string, more: Partial<ItemDefaults> = {}): Promise<KnowledgeItem[]> {
  const items: KnowledgeItem[] = [];
  for await (const item of readItems(path, { ...defaults, ...more })) items.push(item);
  return items.sort((a, b) => (a.id < b.id ? -1 : 1));
}

test("markdown files are items: named by their paths, with what their front matter says", async () => {
  using folder = temporaryFolder();
  mkdirSync(join(folder.path, "guide"));
  writeFileSync(join(folder.path, "plain.md"), "Some text.\n\n# A heading #\n\nMore.");
  writeFileSync(
    join(folder.path, "guide", "one.md"),
    "---\r\ntitle: 2024\r\nkind: POST\r\nauthor: Bob\r\ncategory: News\r\ntags: [a, A, b]\r\nspace:\r\ndate: 2024-05-06\r\n---\r\nThe body.\n",
  );
  const [one, plain] = await itemsOf(folder.path);
  expect(one).toEqual({
    id: "guide/one",
    kind: "post",
    title: "2024",
    body: "The body.",
    author: "Bob",
    categories: ["News"],
    tags: ["A", "b"],
    owner: "operator",
    space: undefined,
    origin: undefined,
    createdAt: Date.parse("2024-05-06"),
    updatedAt: 5_000,
  });
  expect(plain).toMatchObject({
    id: "plain",
    kind: "node",
    title: "A heading",
    author: "operator",
    space: "shared",
    createdAt: 5_000,
  });
});

test("what is written is read again as it was", async () => {
  using folder = temporaryFolder();
  const item = {
    kind: "node",
    title: " A — B",
    body: "    one\u2028two\u2029three\u0085\r\nfour\n",
    author: "Bob",
    categories: ["x"],
    tags: ["y"],
    owner: "bob",
    createdAt: 1,
    updatedAt: 2,
  };
  const items: KnowledgeItem[] = [
    { ...item, id: "a", space: undefined, origin: "https://eve.example" },
    { ...item, id: "b", space: "team", origin: undefined },
  ];
  const file = join(folder.path, "items.jsonl");
  writeFileSync(file, `${items.map(itemLine).join("\n")}\n\n`);
  expect(await itemsOf(file)).toEqual(items);
});

test("what knowledge_save takes at its bounds is read again, and what is above them is not", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "items.jsonl");
  const astral = (length: number): string => "😀".repeat(length);
  const names = { author: "a", owner: "bob", space: undefined, origin: undefined, createdAt: 1, updatedAt: 2 };
  const item = {
    ...names,
    id: "a",
    kind: "node",
    title: astral(300),
    body: astral(200_000),
    categories: [astral(100)],
    tags: [astral(100)],
  };
  writeFileSync(file, itemLine(item));
  expect(await itemsOf(file)).toEqual([item]);
  for (const more of [
    { title: astral(301) },
    { body: astral(200_001) },
    { categories: [astral(101)] },
    { tags: [astral(101)] },
  ]) {
    writeFileSync(file, itemLine({ ...item, ...more }));
    await expect(itemsOf(file)).rejects.toThrow(/: expected .* characters$/);
  }
});

test.each([
  [
    "aliases that multiply",
    "a: &a [x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b]\nd: [*c, *c, *c, *c]",
  ],
  ["an alias of nothing", "title: *nobody"],
])("front matter with %s is refused in words that name the file", async (_, yaml) => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "one.md"), `---\n${yaml}\n---\nThe body.`);
  await expect(itemsOf(folder.path)).rejects.toThrow(
    /^Cannot import .*one\.md: its front matter cannot be used: it has more than 100 aliases, or aliases that cannot be resolved$/,
  );
});

test("neither links nor what is no text in UTF-8 is imported", async () => {
  using outside = temporaryFolder();
  using folder = temporaryFolder();
  const secret = join(outside.path, "secret.md");
  writeFileSync(secret, "SECRET");
  mkdirSync(join(folder.path, "folder.md"));
  writeFileSync(join(folder.path, "good.md"), "Good: ü");
  symlinkSync(outside.path, join(folder.path, "linked"));
  expect(await itemsOf(folder.path)).toEqual([expect.objectContaining({ id: "good", body: "Good: ü" })]);

  symlinkSync(secret, join(folder.path, "link.md"));
  await expect(itemsOf(folder.path)).rejects.toThrow(/link\.md: it is a symlink, which is not followed/);
  rmSync(join(folder.path, "link.md"));
  for (const name of ["latin.md", "latin.jsonl"])
    writeFileSync(join(folder.path, name), Buffer.from('{"id":"a","title":"ü","body":"ü"}', "latin1"));
  await expect(itemsOf(folder.path)).rejects.toThrow(/latin\.md: it is not UTF-8 text/);
  await expect(itemsOf(join(folder.path, "latin.jsonl"))).rejects.toThrow(/latin\.jsonl: it is not UTF-8 text/);
});

test("a fault names its file and line, and all that is wrong there", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "items.jsonl");
  writeFileSync(
    file,
    '{"id":"a","title":"a","body":"a"}\n{"id":" ","kind":"blog","tags":[1,{}],"owner":"a b","date":"soon"}\n',
  );
  await expect(itemsOf(file)).rejects.toThrow(
    /items\.jsonl, line 2: kind: "blog" is none of node, post; id: expected a text .*; title: is missing; body: is missing; tags: expected .*; created_at: expected a date; owner: /,
  );
  writeFileSync(file, "{");
  await expect(itemsOf(file)).rejects.toThrow(/line 1: it is not JSON/);
  writeFileSync(join(folder.path, "x.md"), "---\na: [\n---\nx");
  await expect(itemsOf(folder.path)).rejects.toThrow(/x\.md: its front matter is not YAML/);
  await expect(itemsOf(join(folder.path, "missing"))).rejects.toThrow(/Cannot import .*missing: there is no such file/);
  await expect(itemsOf(join(folder.path, "x.md"))).rejects.toThrow(
    /expected a folder of markdown files, or a file NAME\.jsonl/,
  );
});
