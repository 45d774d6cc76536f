import { appendFileSync } from "node:fs";
import { expect, test } from "vitest";
import { nextLine } from "./chain.ts";
import { openAuditLog } from "./open-audit-log.ts";
import { auditScene, record } from "./test-audit.ts";
import { verifyAudit } from "./verify-audit.ts";

const LINES = 20;

async function sceneOf(lines: number) {
  const scene = auditScene();
  await using log = await openAuditLog(scene.file);
  for (let index = 1; index <= lines; index++) await log.write(record(index));
  return scene;
}

const forgery = (line: string, change: (fields: Record<string, unknown>) => object): string => {
  const { seq, time: _time, previous, hash: _hash, ...fields } = JSON.parse(line) as Record<string, unknown>;
  return nextLine({ seq: Number(seq) - 1, hash: String(previous) }, change(fields), new Date()).text.trimEnd();
};

test.each<[string, (lines: string[]) => string[], number, RegExp]>([
  ["a character changed", (lines) => lines.with(6, lines[6]?.replace("somebody", "somebodY") ?? ""), 7, /its text is not what its hash was made of/],
  [
    "another hash",
    (lines) => lines.with(6, lines[6]?.replace(/"hash":"(.)/, (_, digit) => `"hash":"${digit === "0" ? "1" : "0"}`) ?? ""),
    7,
    /its text is not what/,
  ],
  [
    "a line written anew with its own hash",
    (lines) =>
      lines.with(
        6,
        forgery(lines[6] ?? "", (it) => ({ ...it, caller: "other" })),
      ),
    8,
    /the line before it, which was replaced/,
  ],
  ["a line deleted", (lines) => lines.toSpliced(6, 1), 7, /line 7 of the chain is missing before it/],
  ["three lines deleted", (lines) => lines.toSpliced(6, 3), 7, /lines 7 to 9 of the chain are missing/],
  ["a line inserted", (lines) => lines.toSpliced(6, 0, lines[2] ?? ""), 7, /it was inserted or moved here/],
  ["a made-up line inserted", (lines) => lines.toSpliced(6, 0, "{}"), 7, /it is no line of an audit log/],
  ["two lines exchanged", (lines) => lines.with(6, lines[7] ?? "").with(7, lines[6] ?? ""), 7, /line 7 of the chain is missing before it/],
  ["an empty line", (lines) => lines.toSpliced(6, 0, ""), 7, /it is no line of an audit log/],
  ["a line of a mebibyte", (lines) => lines.toSpliced(6, 0, "x".repeat(1024 * 1024)), 7, /it is no line of an audit log/],
  [
    "the first line deleted and the second renumbered",
    (lines) => lines.slice(1).with(0, lines[1]?.replace('"seq":2', '"seq":1') ?? ""),
    1,
    /its text is not what/,
  ],
])("names the first line that is wrong after %s", async (_, tamper, line, message) => {
  using scene = await sceneOf(LINES);
  scene.rewrite(tamper(scene.lines()));

  expect((await verifyAudit([scene.file])).fault).toEqual({ file: scene.file, line, message: expect.stringMatching(message) });
});

test("a chain that is whole has no fault, and says where it ends", async () => {
  using scene = await sceneOf(LINES);
  const last = JSON.parse(scene.lines().at(-1) ?? "") as { hash: string };

  expect(await verifyAudit([scene.file])).toMatchObject({ fault: undefined, head: { seq: LINES, hash: last.hash }, files: [{ lines: LINES, cutOffBytes: 0 }] });
});

test("a last line that a crash cut off is told from a line that was changed, at each byte of it", async () => {
  using scene = await sceneOf(3);
  const lines = scene.lines();
  const [last = ""] = lines.splice(-1);
  for (const length of [1, last.length >> 1, last.length - 1, last.length]) {
    scene.rewrite(lines);
    appendFileSync(scene.file, last.slice(0, length));
    expect(await verifyAudit([scene.file])).toMatchObject({ fault: undefined, head: { seq: 2 }, files: [{ lines: 2, cutOffBytes: length }] });
  }
});

test("who noted a hash elsewhere finds out that the whole chain was written anew, or cut after it", async () => {
  using scene = await sceneOf(LINES);
  const noted = JSON.parse(scene.lines()[15] ?? "") as { hash: string };
  expect((await verifyAudit([scene.file], { head: noted.hash })).hasHead).toBe(true);

  scene.rewrite(scene.lines().slice(0, 10));
  expect(await verifyAudit([scene.file], { head: noted.hash })).toMatchObject({ fault: undefined, hasHead: false });
});
