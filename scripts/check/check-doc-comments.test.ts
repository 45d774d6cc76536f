import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { checkDocComments } from "./check-doc-comments.ts";

/** A repository with one package, whose index offers what `source` declares. */
function repository(index: string, source: string) {
  const folder = temporaryFolder();
  mkdirSync(join(folder.path, "packages/one/src"), { recursive: true });
  folder.write("packages/one/package.json", JSON.stringify({ exports: { ".": "./src/index.ts" } }));
  folder.write("packages/one/src/index.ts", index);
  folder.write("packages/one/src/source.ts", source);
  return folder;
}

test("every name that a package offers needs a doc comment at its declaration", async () => {
  using folder = repository(
    'export { a, type B } from "./source.ts";',
    "/** Is one. */\nexport const a = 1;\nexport interface B {}\nexport const inside = 2;\n",
  );

  await expect(checkDocComments(folder.path)).rejects.toThrow(
    /^packages\/one\/src\/source\.ts:3 B: has no doc comment$/,
  );
});

test("sentences of a doc comment are read, each tag by itself", async () => {
  const words = (count: number): string => Array.from({ length: count }, () => "word").join(" ");
  const comment = `/**\n * ${words(20)}.\n * Each caller is told.\n * @returns ${words(20)}\n * @throws {RangeError} if ${words(26)}\n */`;
  using folder = repository('export * from "./source.ts";', `${comment}\nexport function a() {}\n`);

  const faults = await checkDocComments(folder.path).catch((error: Error) => error.message.split("\n"));

  expect(faults).toEqual([
    expect.stringMatching(/:7 a: "is told", name the actor/),
    expect.stringMatching(/:7 a: 27 words/),
  ]);
});

test("a package whose names have comments that read well passes", async () => {
  using folder = repository('export { a } from "./source.ts";', "/** Is one. */\nexport const a = 1;\n");

  expect(await checkDocComments(folder.path)).toBe("1 names");
});
