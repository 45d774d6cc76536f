import { createHash } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { registerSecret } from "@rockbot/base/redaction";
import { expect, test } from "vitest";
import { AuditFileError } from "./audit-file.ts";
import { createAuditKey, keyFileOf } from "./audit-key.ts";
import { openAuditLog } from "./open-audit-log.ts";
import { auditScene, record } from "./test-audit.ts";
import { verifyAudit } from "./verify-audit.ts";

const WAIT = { timeout: 15_000 };

test("a record is in the file when write resolves, for its owner's eyes, and the next process goes on with the chain", async () => {
  using scene = auditScene();
  for (const index of [1, 2]) {
    await using log = await openAuditLog(scene.file);
    await log.write(record(index));
    expect(scene.lines()).toHaveLength(index);
  }
  expect(JSON.parse(scene.lines()[1] ?? "")).toMatchObject({
    seq: 2,
    toolCallId: "call-2",
    decision: "allowed",
    outcome: "ok",
  });
  expect(statSync(scene.file).mode & 0o777).toBe(0o600);
  expect(await verifyAudit([scene.file])).toMatchObject({ faults: [], head: { seq: 2 } });
});

test("arguments are hashed with a key that lies beside the log, for its owner's eyes, or is shared; a value of four digits is not found by guesses", async () => {
  using scene = auditScene();
  const text = '{"pin":"4711"}';
  for (const key of [undefined, undefined, "a key that is shared", "a key that is shared"]) {
    await using log = await openAuditLog(scene.file, { key });
    await log.write({ ...record(1), arguments: text });
  }
  const [own, again, shared, sharedAgain] = scene
    .lines()
    .map((line) => (JSON.parse(line) as { arguments: string }).arguments);
  const keyFile = keyFileOf(scene.file);
  expect(statSync(keyFile).mode & 0o777).toBe(0o600);
  expect(own).toBe(createAuditKey(readFileSync(keyFile, "utf8").trim()).hash(text));
  expect([again, sharedAgain]).toEqual([own, shared]);
  expect(shared).toBe(createAuditKey("a key that is shared").hash(Buffer.from(text)));
  const guesses = new Set(
    Array.from({ length: 10_000 }, (_, pin) =>
      createHash("sha256")
        .update(`{"pin":"${String(pin).padStart(4, "0")}"}`)
        .digest("hex"),
    ),
  );
  for (const line of scene.lines())
    for (const hex of line.match(/[0-9a-f]{64}/g) ?? []) expect(guesses.has(hex)).toBe(false);

  writeFileSync(keyFile, ""); // as a crash or a full disk leaves it
  await using log = await openAuditLog(scene.file);
  await log.write({ ...record(1), arguments: text });
  expect(JSON.parse(scene.lines().at(-1) ?? "")).toMatchObject({
    arguments: createAuditKey(readFileSync(keyFile, "utf8").trim()).hash(text),
  });
});

test("a secret of this process stands in no line, also where the cut would go through it", async () => {
  using scene = auditScene();
  const secret = `s3cr3t-${"0123456789".repeat(8)}`;
  registerSecret(secret);
  await using log = await openAuditLog(scene.file);
  await log.write({
    ...record(1),
    caller: secret,
    tool: `${"x".repeat(250)}${secret}`,
    toolCallId: Buffer.from(secret).toString("base64"),
  });

  expect(scene.lines()[0]).not.toContain("s3cr3t");
  expect(JSON.parse(scene.lines()[0] ?? "")).toMatchObject({
    caller: "[redacted]",
    toolCallId: expect.stringContaining("[redacted]"),
  });
});

test("thousands at once are written in their order", async () => {
  using scene = auditScene();
  await using log = await openAuditLog(scene.file);
  await Promise.all(Array.from({ length: 5_000 }, (_, index) => log.write(record(index))));

  expect(scene.lines().map((line) => (JSON.parse(line) as { toolCallId: string }).toolCallId)).toEqual(
    Array.from({ length: 5_000 }, (_, index) => `call-${index}`),
  );
  expect((await verifyAudit([scene.file])).faults).toEqual([]);
});

test("a file that is full is put aside, its chain goes on in the next, and a missing one of them shows", async () => {
  using scene = auditScene();
  {
    await using log = await openAuditLog(scene.file, { maxBytes: 2_000 });
    for (let index = 1; index <= 40; index++) await log.write(record(index));
  }
  const files = scene.names().map((name) => join(scene.folder, name));
  const missing = files.toSorted().toSpliced(2, 1);
  rmSync(scene.file); // as after a crash between putting aside and the next line
  await using log = await openAuditLog(scene.file);
  await log.write(record(41));

  expect(files.length).toBeGreaterThan(4);
  expect(await verifyAudit(files.reverse())).toMatchObject({ faults: [], startsAt: undefined });
  expect((await verifyAudit(missing)).faults).toMatchObject([
    { line: 1, message: expect.stringContaining("missing before it") },
  ]);
  expect((await verifyAudit(files.slice(0, 2))).startsAt).toBeGreaterThan(1);
});

test("a last line that a crash cut off is taken away, and the chain says so", async () => {
  using scene = auditScene();
  {
    await using log = await openAuditLog(scene.file);
    await log.write(record(1));
  }
  appendFileSync(scene.file, '{"seq":2,"time":"20');
  {
    await using log = await openAuditLog(scene.file, { log: scene.log });
    await log.write(record(2));
  }
  expect(JSON.parse(scene.lines()[1] ?? "")).toMatchObject({ seq: 2, event: "recovered", droppedBytes: 19 });
  expect(scene.said).toContainEqual(
    expect.objectContaining({ level: "warn", fields: expect.objectContaining({ droppedBytes: 19 }) }),
  );
  expect(await verifyAudit([scene.file])).toMatchObject({ faults: [], head: { seq: 3 } });
});

test.each<[string, (line: string) => string, number]>([
  ["was changed", (line) => `${line.replace("somebody", "nobody")}\n`, 2],
  ["is no line of ours", (line) => `${line}\nhello\n`, 3],
  ["is not Unicode", (line) => `${line}\n\u2028\ud800\n`, 3],
  ["has no end", (line) => `${line}\n${"x".repeat(70_000)}`, 3],
  ["has no end, and there is no other,", () => "x".repeat(1_000_000), 2],
])(
  "a file whose last line %s stops no start: it is put aside, loudly, and the chain goes on behind the last line that is whole",
  async (_, tamper, seq) => {
    using scene = auditScene();
    {
      await using log = await openAuditLog(scene.file);
      for (const index of [1, 2]) await log.write(record(index));
    }
    const [first = "", second = ""] = scene.lines();
    scene.rewrite([first]);
    renameSync(scene.file, `${scene.file}.000000000001`);
    writeFileSync(scene.file, tamper(second));
    for (const index of [3, 4]) {
      await using log = await openAuditLog(scene.file, { log: scene.log });
      await log.write(record(index));
    }

    expect(scene.said).toContainEqual(
      expect.objectContaining({ level: "error", message: expect.stringContaining("set aside") }),
    );
    expect(scene.lines().map((line) => JSON.parse(line) as object)).toMatchObject([
      { seq, event: "set_aside", file: expect.stringMatching(/^audit\.jsonl\.0000/), reason: expect.any(String) },
      { toolCallId: "call-3" },
      { toolCallId: "call-4" },
    ]);
    const report = await verifyAudit(scene.names().map((name) => join(scene.folder, name)));
    expect(report).toMatchObject({
      faults: [{ unreadable: 1 }],
      furtherFaults: 0,
      startsAt: undefined,
      head: { seq: seq + 2 },
    });
  },
);

test("a place where no file can be had is an error for the operator", async () => {
  using scene = auditScene();
  await expect(openAuditLog(join(scene.folder, "no", "such", "folder"))).rejects.toThrow(
    /Cannot open the audit file .* ENOENT/,
  );
  await expect(openAuditLog(scene.folder)).rejects.toThrow(AuditFileError);
});

test("a name that is taken already stops no file from being put aside", async () => {
  using scene = auditScene();
  {
    await using log = await openAuditLog(scene.file, { maxBytes: 1 });
    writeFileSync(`${scene.file}.000000000002`, scene.file);
    for (const index of [1, 2, 3]) await log.write(record(index));
    await expect
      .poll(() => scene.names().sort(), WAIT)
      .toEqual(["audit.jsonl", ...["1", "2", "2.2", "3"].map((number) => `audit.jsonl.${"0".repeat(11)}${number}`)]);
  }
  rmSync(`${scene.file}.000000000003`);
  await using log = await openAuditLog(scene.file);
  await log.write(record(3));
  expect(JSON.parse(scene.lines()[0] ?? "")).toMatchObject({ seq: 3 });
});

const CODE_POINTS = 0x110000;
const PIECE = 250;

test("whatever a text holds, its line is one line and can be read: each code point, half pairs, and names of 64 KiB", {
  timeout: 60_000,
}, async () => {
  using scene = auditScene();
  const texts = Array.from({ length: Math.ceil(CODE_POINTS / PIECE) }, (_, piece) =>
    String.fromCodePoint(
      ...Array.from({ length: Math.min(PIECE, CODE_POINTS - piece * PIECE) }, (_, i) => piece * PIECE + i),
    ),
  ).flatMap((text) => text.match(/.{1,256}/gs) ?? []);
  const long = ["x", "\u2028", "\u0000", "\ud800", "🦀", '"', "\n"].map((it) => it.repeat(65_536));
  {
    await using log = await openAuditLog(scene.file);
    await Promise.all(
      [...texts, ...long].map((text) =>
        log.write({ ...record(1), caller: text, tool: text, toolCallId: text, outcome: text, service: text }),
      ),
    );
  }
  const lines = scene.lines();
  expect(await verifyAudit([scene.file])).toMatchObject({ faults: [], head: { seq: texts.length + long.length } });
  expect(lines.every((line) => line === line.split(/[\r\n\v\f\u0085\u2028\u2029\x1c-\x1e]/)[0])).toBe(true);
  expect(lines.map((line) => (JSON.parse(line) as { tool: string }).tool)).toEqual(
    [...texts, ...long].map((text) => text.slice(0, 256)),
  );
});

test.skipIf(!existsSync("/dev/full"))(
  "a disk that is full stops no call and is told loudly; when it takes lines again, the chain says how many are missing",
  async () => {
    // Linux alone has /dev/full, which takes no byte.
    using scene = auditScene();
    symlinkSync("/dev/full", scene.file);
    await using log = await openAuditLog(scene.file, { log: scene.log });
    await log.write(record(0));
    expect(log.isWriting).toBe(false);
    await Promise.all(Array.from({ length: 10_098 }, (_, index) => log.write(record(index + 1))));
    expect(scene.said.filter(({ level }) => level === "error")).toMatchObject([
      { message: expect.stringContaining("could not write the audit file"), fields: { err: { code: "ENOSPC" } } },
    ]);

    rmSync(scene.file);
    await expect.poll(() => log.isWriting, WAIT).toBe(true);
    await log.write(record(20_000));
    const report = await verifyAudit([scene.file]);
    expect(report).toMatchObject({ faults: [], files: [{ lines: 10_002, lost: 99 }] });
    expect(JSON.parse(scene.lines().at(-1) ?? "")).toMatchObject({ toolCallId: "call-20000" });
  },
);

test("a file that somebody moves is followed by a new one, in one chain", async () => {
  using scene = auditScene();
  await using log = await openAuditLog(scene.file);
  await log.write(record(1));
  renameSync(scene.file, join(scene.folder, "moved"));
  await expect.poll(() => existsSync(scene.file), WAIT).toBe(true);
  await log.write(record(2));

  expect(await verifyAudit([scene.file, join(scene.folder, "moved")])).toMatchObject({
    faults: [],
    head: { seq: 2 },
    files: [{ lines: 1 }, { lines: 1 }],
  });
});

test("another's line in the file is noticed, told, and a fault of the chain", async () => {
  using scene = auditScene();
  await using log = await openAuditLog(scene.file, { log: scene.log });
  await log.write(record(1));
  appendFileSync(scene.file, `${scene.lines()[0]}\n`);
  await expect
    .poll(() => scene.said.some(({ message }) => message.includes("another process has changed the audit file")), WAIT)
    .toBe(true);
  await log.write(record(2));

  expect((await verifyAudit([scene.file])).faults[0]).toMatchObject({ line: 2 });
});
