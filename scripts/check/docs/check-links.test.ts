import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { checkLinks } from "./check-links.ts";

async function linksIn(files: Readonly<Record<string, string>>): Promise<string> {
  using folder = mkdtempDisposableSync(join(tmpdir(), "rockbot-links-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder.path, name)), { recursive: true });
    writeFileSync(join(folder.path, name), text);
  }
  return await checkLinks(folder.path).catch((error: Error) => error.message);
}

test("a source file that a code span names has to be there, but for one with a place to fill in", async () => {
  expect(
    await linksIn({ "a.md": "`packages/a.ts` `packages/gone.ts` `services/NAME/a.ts` `gone.ts`", "packages/a.ts": "" }),
  ).toBe("a.md: `packages/gone.ts`: no such file");
});

test("links to files, headings and ids that are there pass, and addresses elsewhere are not asked", async () => {
  const links = "[a](docs/b.md) [b](docs/b.md#two-words) [c](#here) [d](https://example.com/) ![e](docs/e.svg)";
  expect(
    await linksIn({ "a.md": `# Here\n\n${links}\n`, "docs/b.md": "## Two `words`\n", "docs/e.svg": "<svg/>" }),
  ).toBe("4 links in 2 files");
});

test("a link to no file, to no heading, out of the repository or from its root is a fault, in HTML too", async () => {
  const links = '[a](gone.md) [b](#gone) [c](../out.md) [d](/a.md)\n\n<img src="gone.svg">';
  const faults = (await linksIn({ "a.md": `# Here\n\n${links}\n` })).split("\n");
  expect(faults.map((fault) => fault.split(": ").slice(1).join(": "))).toEqual([
    "gone.md: no such file",
    "#gone: no such heading",
    "../out.md: leads out of the repository",
    "/a.md: a link from the root leads nowhere on a disk",
    "gone.svg: no such file",
  ]);
});
