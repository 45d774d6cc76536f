import { createHash } from "node:crypto";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
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
  [
    "a character changed",
    (lines) => lines.with(6, lines[6]?.replace("somebody", "somebodY") ?? ""),
    7,
    /its text does not match its hash/,
  ],
  [
    "another hash",
    (lines) =>
      lines.with(6, lines[6]?.replace(/"hash":"(.)/, (_, digit) => `"hash":"${digit === "0" ? "1" : "0"}`) ?? ""),
    7,
    /its text does not match its hash/,
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
  ["a made-up line inserted", (lines) => lines.toSpliced(6, 0, "{}"), 7, /it is not a line of an audit log/],
  [
    "two lines exchanged",
    (lines) => lines.with(6, lines[7] ?? "").with(7, lines[6] ?? ""),
    7,
    /line 7 of the chain is missing before it/,
  ],
  ["an empty line", (lines) => lines.toSpliced(6, 0, ""), 7, /it is not a line of an audit log/],
  [
    "a line of a mebibyte",
    (lines) => lines.toSpliced(6, 0, "x".repeat(1024 * 1024)),
    7,
    /it is not a line of an audit log/,
  ],
  [
    "the first line deleted and the second renumbered",
    (lines) => lines.slice(1).with(0, lines[1]?.replace('"seq":2', '"seq":1') ?? ""),
    1,
    /its text does not match its hash/,
  ],
])("names the first line that is wrong after %s", async (_, tamper, line, message) => {
  using scene = await sceneOf(LINES);
  scene.rewrite(tamper(scene.lines()));

  expect((await verifyAudit([scene.file])).faults[0]).toMatchObject({
    file: scene.file,
    line,
    message: expect.stringMatching(message),
  });
});

test("all places that are wrong are named, also behind the first: lines that cannot be read stand for as many of the chain", async () => {
  using scene = await sceneOf(LINES);
  const lines = scene.lines();
  scene.rewrite(lines.with(2, "{}").with(3, "\u2028").toSpliced(9, 1).with(14, "?"));

  expect(await verifyAudit([scene.file])).toMatchObject({
    faults: [
      { line: 3, unreadable: 2 },
      { line: 10, unreadable: 0, message: expect.stringContaining("line 10 of the chain is missing") },
      { line: 15, unreadable: 1 },
    ],
    head: { seq: LINES },
  });
  scene.rewrite(lines.flatMap((line) => Array.from({ length: 6 }, () => line)));
  expect(await verifyAudit([scene.file])).toMatchObject({
    faults: { length: 100 },
    furtherFaults: 0,
    head: { seq: LINES },
  });
  scene.rewrite(lines.flatMap((line) => Array.from({ length: 10 }, () => line)));
  expect(await verifyAudit([scene.file])).toMatchObject({ faults: { length: 100 }, furtherFaults: 80 });
});

test("a line in which a text has line separators as they are is a line, too", async () => {
  using scene = auditScene();
  const said = `{"seq":1,"time":"2026-01-01T00:00:00.000Z","tool":"echo\u2028\u2029","previous":"${"0".repeat(64)}"`;
  scene.rewrite([`${said},"hash":"${createHash("sha256").update(said).digest("hex")}"}`]);
  await using log = await openAuditLog(scene.file, { log: scene.log });
  await log.write(record(1));

  expect(await verifyAudit([scene.file])).toMatchObject({ faults: [], head: { seq: 2 } });
});

test("a byte that is no Unicode is told from the character that stands for it", async () => {
  using scene = auditScene();
  {
    await using log = await openAuditLog(scene.file);
    await log.write({ ...record(1), tool: "a\ufffdb" });
  }
  const bytes = readFileSync(scene.file);
  const at = bytes.indexOf("\ufffd");
  writeFileSync(scene.file, Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff]), bytes.subarray(at + 3)]));

  expect((await verifyAudit([scene.file])).faults).toMatchObject([
    { line: 1, message: expect.stringContaining("its text does not match its hash") },
  ]);
});

test("a chain that is whole has no fault, and says where it ends", async () => {
  using scene = await sceneOf(LINES);
  const last = JSON.parse(scene.lines().at(-1) ?? "") as { hash: string };

  expect(await verifyAudit([scene.file])).toMatchObject({
    faults: [],
    head: { seq: LINES, hash: last.hash },
    files: [{ lines: LINES, cutOffBytes: 0 }],
  });
});

test("a last line that a crash cut off is told from a line that was changed, at each byte of it", async () => {
  using scene = await sceneOf(3);
  const lines = scene.lines();
  const [last = ""] = lines.splice(-1);
  for (const length of [1, last.length >> 1, last.length - 1, last.length]) {
    scene.rewrite(lines);
    appendFileSync(scene.file, last.slice(0, length));
    expect(await verifyAudit([scene.file])).toMatchObject({
      faults: [],
      head: { seq: 2 },
      files: [{ lines: 2, cutOffBytes: length }],
    });
  }
});

test("who noted a hash elsewhere finds out that the whole chain was written anew, or cut after it", async () => {
  using scene = await sceneOf(LINES);
  const noted = JSON.parse(scene.lines()[15] ?? "") as { hash: string };
  expect((await verifyAudit([scene.file], { head: noted.hash })).hasHead).toBe(true);

  scene.rewrite(scene.lines().slice(0, 10));
  expect(await verifyAudit([scene.file], { head: noted.hash })).toMatchObject({ faults: [], hasHead: false });
});

test("a log without any line is told as one that may have been emptied", async () => {
  for (const text of ["", "not an audit log"]) {
    using scene = auditScene();
    const { file } = scene;
    writeFileSync(file, text);
    expect(await verifyAudit([file])).toMatchObject({
      faults: [{ file, line: 1, message: expect.stringContaining("emptied") }],
    });
  }
});
