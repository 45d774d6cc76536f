import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { argumentsFromPairs } from "./arguments-from-pairs.ts";
import { readPairs } from "./read-pairs.ts";
import type { Schema } from "./schema.ts";

const schema: Schema = {
  type: "object",
  additionalProperties: false,
  required: ["url"],
  properties: {
    url: { type: "string" },
    max_bytes: { type: "integer" },
    ratio: { type: ["number", "null"] },
    raw: { type: "boolean" },
    tags: { type: "array", items: { type: "string" } },
    sizes: { anyOf: [{ $ref: "#/definitions/sizes" }, { type: "null" }] },
    options: { type: "object", properties: { depth: { type: "integer" } } },
    either: { type: ["string", "number", "null"] },
    order: { enum: ["asc", "desc"] },
    "a.b": { type: "string" },
    any: {},
  },
  definitions: { sizes: { type: "array", items: { type: "number" } } },
};

async function read(words: readonly string[], by: Schema | undefined = schema) {
  const faults: string[] = [];
  const args = argumentsFromPairs(await readPairs(words, faults), by, faults);
  return { args, faults };
}

test.each<[string, object]>([
  ["max_bytes=1000", { max_bytes: 1000 }],
  ["ratio=-1.5e3", { ratio: -1500 }],
  ["ratio=null", { ratio: null }],
  ["raw=true", { raw: true }],
  ["tags=a", { tags: ["a"] }],
  ["tags=a tags=b", { tags: ["a", "b"] }],
  ['tags=["a","b"]', { tags: ["a", "b"] }],
  ["tags=1 tags=true", { tags: ["1", "true"] }],
  ["sizes=1 sizes=2", { sizes: [1, 2] }],
  ['options={"depth":2}', { options: { depth: 2 } }],
  ["options.depth=2", { options: { depth: 2 } }],
  ["a.b=x", { "a.b": "x" }],
  ["either=word", { either: "word" }],
  ["either:=12", { either: 12 }],
  ['either:="12"', { either: "12" }],
  ["order=asc", { order: "asc" }],
  ["any=text", { any: "text" }],
])("%s is typed by the schema", async (line, args) => {
  expect(await read(["url=https://x.test/?a=b&c==", ...line.split(" ")])).toEqual({
    args: { url: "https://x.test/?a=b&c==", ...args },
    faults: [],
  });
});

test.each([
  ["max_bytes=many", /^max_bytes: expected a whole number, got "many"$/],
  ["max_bytes=1.5", /^max_bytes: expected a whole number/],
  ["max_bytes=9007199254740993", /^max_bytes: "9007199254740993" would become 9007199254740992 on its way$/],
  ["ratio=1e400", /^ratio: "1e400" would become Infinity on its way$/],
  ["sizes=1e400", /^sizes: "1e400" would become Infinity on its way$/],
  ["raw=yes", /^raw: expected true or false, got "yes"$/],
  ["sizes=1 sizes=b", /^sizes: expected a number, got "b"$/],
  ["max_bytes=1 max_bytes=2", /^max_bytes: is given 2 times, and takes one value$/],
  ["either=12", /^either: "12" is ambiguous\. Write either:='"12"' for text, or either:=12 for a number$/],
  ["any=true", /^any: "true" is ambiguous\. Write any:='"true"' for text, or any:=true for true or false$/],
  ["maxbytes=1", /^maxbytes: the tool takes no such argument\. Did you mean "max_bytes"\?$/],
  ["options=1", /^options: expected an object as JSON, got "1"$/],
  ['options.depth=1 options={"depth":2}', /^options: is given in parts and as a whole$/],
  ["raw:=yes", /^raw: not valid JSON.*Expected JSON after :=/],
  ["raw=@/nonexistent/file", /^raw: the file \/nonexistent\/file cannot be read \(ENOENT\)/],
  ["raw=@", /^raw: @ names no file\. For a text that starts with @ write raw:='"@…"'$/],
  ["options.__proto__.x=a", /^options\.__proto__\.x: JSON with a forbidden key/],
  ['options.constructor:={"prototype":1}', /^options\.constructor: JSON with a forbidden key/],
  ["raw:=true raw=true", /^raw: is given 2 times/],
  ["word", /^the argument "word": expected key=value/],
])("%s is refused in words", async (line, words) => {
  expect((await read(["url=x", ...line.split(" ")])).faults).toEqual([expect.stringMatching(words)]);
});

test("all faults come at once, and so does what is missing", async () => {
  expect((await read(["max_bytes=many", "raw=yes", "wrod=1"])).faults).toEqual([
    expect.stringMatching(/^max_bytes/),
    expect.stringMatching(/^raw/),
    expect.stringMatching(/^wrod/),
    "url: is required and missing",
  ]);
});

test.each(["url=@/nonexistent/file", "url=@/dev/zero", "url=@", "url:=bad"])(
  "%s is one fault: what is given and cannot be read is not missing",
  async (word) => {
    expect((await read([word])).faults).toEqual([expect.stringMatching(/^url: /)]);
  },
);

test.each(["__proto__=x", "__proto__.a=x", "o.__proto__.x=a", "o.constructor.prototype=1"])(
  "without a schema %s is refused, too",
  async (word) => {
    const faults: string[] = [];
    argumentsFromPairs(await readPairs([word], faults), undefined, faults);
    expect(faults).toEqual([expect.stringContaining("JSON with a forbidden key")]);
  },
);

test("key=@file takes the text of a file", async () => {
  using folder = temporaryFolder();
  const file = folder.write("page.txt", "Grüße\n{1}");

  expect(await read([`url=@${file}`])).toEqual({ args: { url: "Grüße\n{1}" }, faults: [] });
});

test("a schema that refers to itself is read, and without a schema each value is text", async () => {
  const loop: Schema = {
    anyOf: [{ $ref: "#" }, { $ref: "#" }, { $ref: "#/anyOf/0" }],
    properties: { a: { $ref: "#" } },
  };

  expect(await read(["a.a.b=x"], loop)).toEqual({ args: { a: { a: { b: "x" } } }, faults: [] });
  const faults: string[] = [];
  expect(argumentsFromPairs(await readPairs(["a=1", "b.c=true"], faults), undefined, faults)).toEqual({
    a: "1",
    b: { c: "true" },
  });
});
