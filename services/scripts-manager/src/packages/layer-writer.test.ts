import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { createLayerWriter } from "./layer-writer.ts";

const BOUNDS = { maxBytes: 1_000, maxFiles: 10 };
const piece = (path: string, content: string, last = true, executable = false) => ({
  path,
  executable,
  last,
  data: Buffer.from(content).toString("base64"),
});

test("files come whole from their pieces, and keep what makes them executable", async () => {
  using folder = temporaryFolder();
  await using writer = createLayerWriter(folder.path, BOUNDS);
  await writer.write(piece("a/b/c.py", "one ", false));
  await writer.write(piece("a/b/c.py", "two"));
  await writer.write(piece("bin/run", "#!", true, true));
  await writer.write(piece("empty", ""));

  expect(readFileSync(join(folder.path, "a/b/c.py"), "utf8")).toBe("one two");
  expect(statSync(join(folder.path, "a/b/c.py")).mode & 0o111).toBe(0);
  expect(statSync(join(folder.path, "bin/run")).mode & 0o100).toBe(0o100);
  expect(writer.bytes).toBe(9);
});

test("a path that leads elsewhere, a second file of a name and a file within a file are refused", async () => {
  using folder = temporaryFolder();
  for (const path of ["", "/etc/x", "../x", "a/../../x", "a//x", "./x", "a/", "a\0b", "x/".repeat(600)]) {
    await using writer = createLayerWriter(folder.path, BOUNDS);
    await expect(writer.write(piece(path, "x")), path).rejects.toThrow("leads elsewhere");
  }
  expect(readdirSync(folder.path)).toEqual([]);
  await using writer = createLayerWriter(folder.path, BOUNDS);
  await writer.write(piece("a", "first"));
  await expect(writer.write(piece("a", "second"))).rejects.toThrow();
  await expect(writer.write(piece("a/b", "third"))).rejects.toThrow();
  await writer.write(piece("c", "begun", false));
  await expect(writer.write(piece("d", "other"))).rejects.toThrow("no end");
  expect(readFileSync(join(folder.path, "a"), "utf8")).toBe("first");
  expect(existsSync(join(folder.path, "d"))).toBe(false);
});

test("more bytes or files than a layer may have are refused", async () => {
  using folder = temporaryFolder();
  await using bytes = createLayerWriter(folder.path, { maxBytes: 5, maxFiles: 10 });
  await expect(bytes.write(piece("a", "123456"))).rejects.toMatchObject({ code: "too_large" });
  await using files = createLayerWriter(folder.path, { maxBytes: 5, maxFiles: 1 });
  await files.write(piece("b", "1"));
  await expect(files.write(piece("c", "1"))).rejects.toMatchObject({ code: "too_large" });
});
