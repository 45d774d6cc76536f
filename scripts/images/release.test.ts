import { dirname } from "node:path";
import { expect, test } from "vitest";
import { imageFaults, readRelease } from "./release.ts";

const root = dirname(dirname(import.meta.dirname));
const digest = `sha256:${"0".repeat(64)}`;

test("a release names both base images by their digests", async () => {
  const byTag = await imageFaults(
    root,
    await readRelease(root, { "node-image": "node:24", "python-image": "python:3.12" }, {}),
    {},
  );
  expect(byTag).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^--node-image: .*no digest/),
      expect.stringMatching(/^--python-image: .*no digest/),
    ]),
  );

  const options = { "node-image": `node@${digest}`, "python-image": `python:3.12-slim@${digest}` };
  const byDigest = await imageFaults(root, await readRelease(root, options, {}), {});
  expect(byDigest.filter((fault) => fault.includes("digest"))).toEqual([]);
});
