import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openFileTrustStore } from "./file-trust-store.ts";
import { testTrustStore } from "./test-trust-store.ts";

function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "rockbot-trust-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "mcp.lock.json");
}

testTrustStore("FileTrustStore", async () => openFileTrustStore(temporaryFile()));

test("the file can be read and changed by a person, and leaves nothing beside it", async () => {
  const file = temporaryFile();
  await using store = openFileTrustStore(file);
  await store.write("b", { n: 1 }, undefined);
  await store.write("a", { z: 1, y: 2 }, undefined);
  expect(readFileSync(file, "utf8")).toBe(
    '{\n  "format": 1,\n  "records": {\n    "a": {\n      "y": 2,\n      "z": 1\n    },\n    "b": {\n      "n": 1\n    }\n  }\n}\n',
  );
  expect(readdirSync(join(file, ".."))).toEqual(["mcp.lock.json"]);
  const before = await store.revision();
  writeFileSync(file, '{"format":1,"records":{"b":{"n":2}}}');
  expect([await store.revision(), (await store.read("b")).value, await store.names()]).toEqual([
    expect.not.stringContaining(before),
    { n: 2 },
    ["b"],
  ]);
});

test.each(["", "no json", "[]", '{"format":2,"records":{}}', '{"format":1}'])(
  "a file that holds %j is not taken for an empty one",
  async (content) => {
    const file = temporaryFile();
    writeFileSync(file, content);
    await using store = openFileTrustStore(file);
    await expect(store.read("a")).rejects.toThrow("Repair it");
    await expect(store.write("a", {}, undefined)).rejects.toThrow("Repair it");
    expect(readFileSync(file, "utf8")).toBe(content);
  },
);

test("a folder that cannot be written to is said so", async () => {
  await using store = openFileTrustStore("/nowhere/at/all/mcp.lock.json");
  expect(await store.names()).toEqual([]);
  await expect(store.write("a", {}, undefined)).rejects.toThrow(
    "Cannot write the file /nowhere/at/all/mcp.lock.json: ENOENT",
  );
});
