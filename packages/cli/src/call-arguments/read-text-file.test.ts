import { execFileSync, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { MAX_REQUEST_BYTES } from "@rockbot/contracts";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { readTextFile } from "./read-text-file.ts";

test("a file that is too large is refused, and so is a device that never ends", async () => {
  using folder = temporaryFolder();
  const tooLarge = { fault: `is larger than ${MAX_REQUEST_BYTES} bytes` };

  expect(await readTextFile(folder.write("large", "x".repeat(MAX_REQUEST_BYTES + 1)))).toEqual(tooLarge);
  expect(await readTextFile("/dev/zero")).toEqual(tooLarge);
  expect(await readTextFile(folder.write("largest", "x".repeat(MAX_REQUEST_BYTES)))).toEqual({
    text: "x".repeat(MAX_REQUEST_BYTES),
  });
  expect(await readTextFile("/dev/null")).toEqual({ text: "" });
});

test("a pipe is read to its end, and one that nobody fills is given up", async () => {
  using folder = temporaryFolder();
  const pipe = join(folder.path, "pipe");
  execFileSync("sh", ["-c", `mkfifo ${pipe}`]);

  expect(await readTextFile(pipe, 50)).toEqual({ fault: "does not end within 50 ms" });
  const writer = spawn("sh", ["-c", `(printf 'Grü'; printf 'ße') > ${pipe}`]);
  const ended = new Promise((resolve) => writer.once("close", resolve));
  expect(await readTextFile(pipe)).toEqual({ text: "Grüße" });
  await ended;
});

test("bytes that are not UTF-8 and folders are refused, a byte order mark is kept", async () => {
  using folder = temporaryFolder();
  mkdirSync(join(folder.path, "folder"));

  expect(await readTextFile(folder.write("latin1", Buffer.from([0x47, 0xfc])))).toEqual({ fault: "is not UTF-8 text" });
  expect(await readTextFile(join(folder.path, "folder"))).toEqual({ fault: "cannot be read (EISDIR)" });
  expect(await readTextFile(folder.write("marked", "\ufeffa"))).toEqual({ text: "\ufeffa" });
});
