import { appendFileSync, existsSync, readdirSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AuditFileError } from "./audit-file.ts";
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
  expect(JSON.parse(scene.lines()[1] ?? "")).toMatchObject({ seq: 2, toolCallId: "call-2", decision: "allowed", outcome: "ok" });
  expect(statSync(scene.file).mode & 0o777).toBe(0o600);
  expect(await verifyAudit([scene.file])).toMatchObject({ fault: undefined, head: { seq: 2 } });
});

test("thousands at once are written in their order", async () => {
  using scene = auditScene();
  await using log = await openAuditLog(scene.file);
  await Promise.all(Array.from({ length: 5_000 }, (_, index) => log.write(record(index))));

  expect(scene.lines().map((line) => (JSON.parse(line) as { toolCallId: string }).toolCallId)).toEqual(
    Array.from({ length: 5_000 }, (_, index) => `call-${index}`),
  );
  expect((await verifyAudit([scene.file])).fault).toBeUndefined();
});

test("a file that is full is put aside, its chain goes on in the next, and a missing one of them shows", async () => {
  using scene = auditScene();
  {
    await using log = await openAuditLog(scene.file, { maxBytes: 2_000 });
    for (let index = 1; index <= 40; index++) await log.write(record(index));
  }
  const files = readdirSync(scene.folder).map((name) => join(scene.folder, name));
  const missing = files.toSorted().toSpliced(2, 1);
  rmSync(scene.file); // as after a crash between putting aside and the next line
  await using log = await openAuditLog(scene.file);
  await log.write(record(41));

  expect(files.length).toBeGreaterThan(4);
  expect(await verifyAudit(files.reverse())).toMatchObject({ fault: undefined, startsAt: undefined });
  expect((await verifyAudit(missing)).fault).toMatchObject({ line: 1, message: expect.stringContaining("missing before it") });
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
  expect(scene.said).toContainEqual(expect.objectContaining({ level: "warn", fields: expect.objectContaining({ droppedBytes: 19 }) }));
  expect(await verifyAudit([scene.file])).toMatchObject({ fault: undefined, head: { seq: 3 } });
});

test.each([
  ["was changed", (line: string) => `${line.replace("somebody", "nobody")}\n`],
  ["is no line of ours", () => "hello\n"],
])("a file whose last line %s is not gone on with", async (_, tamper) => {
  using scene = auditScene();
  {
    await using log = await openAuditLog(scene.file);
    await log.write(record(1));
  }
  const [line = ""] = scene.lines();
  scene.rewrite([]);
  appendFileSync(scene.file, tamper(line));

  await expect(openAuditLog(scene.file)).rejects.toThrow(AuditFileError);
  await expect(openAuditLog(join(scene.folder, "no", "such", "folder"))).rejects.toThrow(/Cannot open the audit file .* ENOENT/);
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
      { message: expect.stringContaining("calls are not audited now"), fields: { err: { code: "ENOSPC" } } },
    ]);

    rmSync(scene.file);
    await expect.poll(() => log.isWriting, WAIT).toBe(true);
    await log.write(record(20_000));
    const report = await verifyAudit([scene.file]);
    expect(report).toMatchObject({ fault: undefined, files: [{ lines: 10_002, lost: 99 }] });
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
    fault: undefined,
    head: { seq: 2 },
    files: [{ lines: 1 }, { lines: 1 }],
  });
});

test("another's line in the file is noticed, told, and a fault of the chain", async () => {
  using scene = auditScene();
  await using log = await openAuditLog(scene.file, { log: scene.log });
  await log.write(record(1));
  appendFileSync(scene.file, `${scene.lines()[0]}\n`);
  await expect.poll(() => scene.said.some(({ message }) => message.includes("changed by somebody else")), WAIT).toBe(true);
  await log.write(record(2));

  expect((await verifyAudit([scene.file])).fault).toMatchObject({ line: 2 });
});
