import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { makeDataDirectory } from "./make-data-directory.ts";

test("a folder of data is made with those above it, for its user alone, and is the same the next time", () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "one", "two");
  expect([makeDataDirectory(path), makeDataDirectory(path)]).toEqual([path, path]);
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

test("what is no folder is refused in words that name the setting", () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "file");
  writeFileSync(path, "");
  expect(() => makeDataDirectory(path)).toThrow(/Cannot keep data in .*file: EEXIST.*DATA_DIRECTORY/);
  expect(() => makeDataDirectory(join(path, "below"))).toThrow(/ENOTDIR/);
});
