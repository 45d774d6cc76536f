import { chmodSync, mkdirSync } from "node:fs";
import { buffer } from "node:stream/consumers";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { packLayer } from "./pack-layer.ts";

const MIB = 1024 * 1024;

test("a layer is packed file by file, each behind a line that says what it is, in as many bytes as are told before", async () => {
  using folder = temporaryFolder();
  folder.write("one.py", "1");
  mkdirSync(`${folder.path}/two/three`, { recursive: true });
  chmodSync(folder.write("two/three/four.sh", "four"), 0o755);

  const layer = await packLayer(folder.path, { maxBytes: MIB });
  const chunks = await buffer(layer.chunks());
  expect(String(chunks)).toBe(
    '{"path":"one.py","bytes":1,"executable":false}\n1{"path":"two/three/four.sh","bytes":4,"executable":true}\nfour',
  );
  expect(layer.bytes).toBe(chunks.length);
});

test("a layer is refused that takes more of a disk than there is, which is more than what is in its files", async () => {
  using folder = temporaryFolder();
  for (let number = 0; number < 300; number++) folder.write(`${number}.txt`, "x");

  const refused = {
    code: "too_large",
    details: { reason: "packages_too_large" },
    message: expect.stringContaining("take 2 MiB, and a sandbox has room for 1 MiB"),
  };
  await expect(packLayer(folder.path, { maxBytes: MIB })).rejects.toMatchObject(refused);
  expect((await packLayer(folder.path, { maxBytes: 2 * MIB })).bytes).toBeGreaterThan(0);
});

test("a layer that is gone, or is not as long as it was, is told as one that cannot be had", async () => {
  using folder = temporaryFolder();
  await expect(packLayer(`${folder.path}/gone`, { maxBytes: MIB })).rejects.toMatchObject({
    code: "unavailable",
    details: { reason: "packages_lost" },
  });

  folder.write("one.py", "1234");
  const layer = await packLayer(folder.path, { maxBytes: MIB });
  folder.write("one.py", "12");
  await expect(buffer(layer.chunks())).rejects.toMatchObject({
    code: "unavailable",
    details: { reason: "packages_lost" },
  });
});
