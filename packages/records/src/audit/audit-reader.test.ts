import { truncateSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { AuditFound, AuditPlace, AuditSearch } from "./audit-reader.ts";
import type { AuditLog } from "./audit-record.ts";
import { CHAIN_START, nextLine } from "./chain.ts";
import { openAuditLog } from "./open-audit-log.ts";
import { auditScene, record } from "./test-audit.ts";

const search = async (log: AuditLog, asked: AuditSearch = {}): Promise<AuditFound> =>
  (await log.reader?.search(asked)) ?? expect.fail("the log has no reader");
const seqs = ({ lines }: Pick<AuditFound, "lines">) => lines.map(({ seq }) => seq);
const counted = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, index) => from - index);

/** All pages of a search, with something done after each. */
async function pages(
  log: AuditLog,
  asked: AuditSearch = {},
  afterEach: (page: number) => Promise<void> = async () => {},
) {
  const found: AuditFound[] = [];
  for (let from: Record<string, AuditPlace> | undefined, page = 0; page < 100; page++) {
    const answer = await search(log, { ...asked, from });
    found.push(answer);
    if (answer.next === undefined) return found;
    from = { [answer.log]: answer.next };
    await afterEach(page);
  }
  return expect.fail("the search has no end");
}

/** A chain of many lines, made faster than calls would. */
function chainOf(count: number, at = (index: number) => new Date(1_800_000_000_000 + index * 1_000)): string[] {
  let head = CHAIN_START;
  return Array.from({ length: count }, (_, index) => {
    const line = nextLine(head, { ...record(index), caller: index % 1_000 === 0 ? "rare" : "often" }, at(index));
    head = line.head;
    return line.text;
  });
}

test("lines are found by caller, tool, operator and time, the newest first, over all files", async () => {
  using scene = auditScene();
  await using log = await openAuditLog(scene.file, { maxBytes: 1_000 });
  for (const caller of ["researcher", "writer", "Researcher"])
    await log.write({ ...record(1), caller, tool: `of_${caller.toLowerCase()}`, operator: "ada" });
  await log.write({ event: "operator", service: "s", operator: "eve", action: "cancel", of: "c", outcome: "ok" });
  expect(scene.names().length).toBeGreaterThan(1);

  expect(seqs(await search(log))).toEqual([4, 3, 2, 1]);
  expect(seqs(await search(log, { caller: "SEARCH" }))).toEqual([3, 1]);
  expect(seqs(await search(log, { tool: "of_w" }))).toEqual([2]);
  expect(seqs(await search(log, { operator: "e" }))).toEqual([4]);
  const { lines } = await search(log);
  const at = (seq: number) => Date.parse(lines.find((line) => line.seq === seq)?.time ?? "");
  expect(seqs(await search(log, { after: at(4) + 1 }))).toEqual([]);
  expect(seqs(await search(log, { before: at(1) }))).toEqual([]);
  expect(seqs(await search(log, { after: at(1), before: at(4) + 1 }))).toEqual([4, 3, 2, 1]);
});

test("pages follow each other without a gap, though files are put aside meanwhile", async () => {
  using scene = auditScene();
  scene.rewrite(chainOf(450).map((line) => line.trimEnd()));
  await using log = await openAuditLog(scene.file, { maxBytes: 20_000 });
  const found = await pages(log, {}, async (page) => {
    if (page === 0) for (let index = 0; index < 100; index++) await log.write(record(index));
  });
  expect(scene.names().length).toBeGreaterThan(1);
  expect(found.flatMap(seqs)).toEqual(counted(450, 1));
  const first = await search(log);
  const [{ seq, at } = { seq: 0, at: 0 }] = first.lines.filter((line) => line.at === 0);
  expect(seqs(await search(log, { from: { [first.log]: { seq, at } } }))[0]).toBe(seq - 1); // the first line of a file
});

test("a search for a time jumps there, and one for what is rare ends for now after a part", async () => {
  using scene = auditScene();
  writeFileSync(scene.file, chainOf(60_000).join(""));
  await using log = await openAuditLog(scene.file);
  const before = 1_800_000_000_000 + 1_001 * 1_000;
  expect(seqs(await search(log, { before, caller: "rare" }))).toEqual([1_001, 1]);
  const found = await pages(log, { caller: "rare" });
  expect(found.length).toBeGreaterThan(1);
  expect(found.flatMap(seqs)).toEqual(counted(60, 1).map((thousand) => (thousand - 1) * 1_000 + 1));

  let turns = 0;
  const counting = setInterval(() => turns++, 0);
  const state = await log.reader?.state();
  clearInterval(counting);
  expect(turns).toBeGreaterThan(10); // other work had its turn in between
  expect(state).toMatchObject({ first: { seq: 1 }, last: { seq: 60_000 }, faults: [] });
  expect(state?.checked?.from).toBeGreaterThan(1);
});

test("a file that holds anything else is read in parts, and what cannot be read is counted", async () => {
  using scene = auditScene();
  const [first = "", ...others] = chainOf(5);
  writeFileSync(`${scene.file}.000000000001`, first);
  writeFileSync(`${scene.file}.000000000002`, "");
  truncateSync(`${scene.file}.000000000002`, 40 * 1024 * 1024);
  writeFileSync(scene.file, others.join(""));
  await using log = await openAuditLog(scene.file);
  const found = await pages(log);
  expect(found.length).toBeGreaterThan(1);
  expect(found.flatMap(seqs)).toEqual([5, 4, 3, 2, 1]);
  expect(found.reduce((sum, { unreadable }) => sum + unreadable, 0)).toBeGreaterThan(0);
});

test("the state names each place where the chain is broken, and a chain that was written anew", async () => {
  using scene = auditScene();
  await using log = await openAuditLog(scene.file);
  const state = () => log.reader?.state();
  expect(await state()).toMatchObject({ log: "empty", faults: [], first: undefined });
  for (let index = 0; index < 5; index++) await log.write(record(index));
  expect(await state()).toMatchObject({ last: { seq: 5 }, faults: [], checked: { from: 1, to: 5 } });

  const lines = scene.lines();
  scene.rewrite(lines.map((line, index) => (index === 2 ? line.replace("somebody", "nobody") : line)));
  expect(await state()).toMatchObject({
    faults: [{ after: 2, unreadable: 1, message: expect.stringContaining("does not match its hash") }],
  });
  scene.rewrite(chainOf(5).map((line) => line.trimEnd()));
  expect(await state()).toMatchObject({ faults: [{ message: expect.stringContaining("written anew") }] });
  scene.rewrite([]);
  expect((await state())?.faults.map(({ message }) => message)).toEqual([
    expect.stringContaining("cut off"),
    expect.stringContaining("emptied"),
  ]);
});

test("the same question of several is answered once, and too many others are refused in words", async () => {
  using scene = auditScene();
  await using log = await openAuditLog(scene.file);
  const asked = ["a", "a", ..."bcdefghi"].map((caller) => search(log, { caller }));
  const ends = (await Promise.allSettled(asked)).map(({ status }) => status);
  expect(ends).toEqual([...Array(9).fill("fulfilled"), "rejected"]);
  await expect(asked.at(-1)).rejects.toThrow("others read it");
});
