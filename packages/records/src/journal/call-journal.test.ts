import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { sharedRedisUrl, startOwnRedis } from "@rockbot/testing";
import { expect, test } from "vitest";
import { CallJournal } from "./call-journal.ts";
import type { CallNotes } from "./call-notes.ts";
import { type CallRecord, MAX_STEPS, shownRecord } from "./call-record.ts";
import type { JournalStore } from "./journal-store.ts";
import { connectRedisJournalStore } from "./redis/index.ts";

const url = await sharedRedisUrl();
const uniquePrefix = () => `test-${randomBytes(6).toString("hex")}`;
const ask = (journal: CallJournal, toolCallId: string, timeoutMs = 1_000) =>
  journal.asked({ toolCallId, toolName: "echo", timeoutMs });
const POLL = { timeout: 10_000, interval: 20 };

test("a journal tells of each call how it went, and an end is final", async () => {
  let now = 1_000;
  await using journal = new CallJournal({ caller: "me", clock: () => now++ });
  const notes = ask(journal, "a");
  notes.note("accepted");
  notes.note("failed", "denied");
  notes.note("answered");
  journal.answeredLate("a");
  journal.answeredLate("stranger");
  expect(await journal.find("a")).toMatchObject({
    toolName: "echo",
    caller: "me",
    state: "failed",
    code: "denied",
    attempts: 1,
    deadlineAt: 2_000,
    steps: [{ step: "asked" }, { step: "accepted" }, { step: "failed" }, { step: "late_answer" }],
  });
  ask(journal, "a");
  expect(await journal.find("a")).toMatchObject({ state: "asked", attempts: 2 });
  expect(await journal.find("a")).not.toHaveProperty("code");
  expect(await journal.find("stranger")).toBeUndefined();
});

test("a call that was answered stays answered when a later attempt under its id was refused, here and in the store", async () => {
  await using store = await connectRedisJournalStore(url, { prefix: uniquePrefix() });
  await using journal = new CallJournal({ caller: "me", store });
  ask(journal, "a").note("answered");
  const before = await journal.find("a");
  const answered = journal.answered("a");
  const again = ask(journal, "a");
  expect(journal.answered("a")).toBeUndefined();
  expect(await journal.written(again)).toBe(true);
  again.note("failed", "invalid_arguments");
  if (answered !== undefined) journal.goBack(answered);

  expect(before).toMatchObject({ state: "answered", attempts: 1 });
  expect(await journal.find("a")).toEqual(before);
  await expect.poll(() => store.read("me", "a"), POLL).toEqual(before);
});

test("after a restart the record of an id stays what it was, and its answer too, while a later attempt has other arguments or no answer", async () => {
  await using store = await connectRedisJournalStore(url, { prefix: uniquePrefix() });
  const asked = (journal: CallJournal, toolCallId: string, request: string) =>
    journal.asked({ toolCallId, toolName: "test", timeoutMs: 1_000, onBehalfOf: undefined, request });
  {
    await using first = new CallJournal({ caller: "me", store });
    asked(first, "answered", "a").note("answered");
    first.keepAnswer("answered", Buffer.from("answer"));
    asked(first, "failed", "a").note("failed", "execution_failed");
    asked(first, "open", "a");
  }
  const ids = ["answered", "failed", "open"];
  const before = await Promise.all(ids.map((id) => store.read("me", id)));
  await using next = new CallJournal({ caller: "me", store });
  const again = ids.map((id) => asked(next, id, "b"));
  expect(await next.written(again[0] as CallNotes)).toBe(true);
  expect((await store.readOpen("me")).map(({ toolCallId }) => toolCallId)).toEqual(["open"]);
  for (const notes of again) notes.note("failed", "invalid_arguments");
  next.keepRefusal("answered", Buffer.from("refused"));
  const same = asked(next, "failed", "a"); // the same call, asked for once more
  same.note("failed", "unavailable");
  expect(await next.written(same)).toBe(true);

  const [answered, , open] = before;
  await expect
    .poll(() => Promise.all(["answered", "open"].map((id) => store.read("me", id))), POLL)
    .toEqual([answered, open]);
  expect(await next.find("answered")).toEqual(shownRecord(answered as CallRecord));
  expect((await next.recent(10)).find(({ toolCallId }) => toolCallId === "answered")).toEqual(
    shownRecord(answered as CallRecord),
  );
  expect(Buffer.from((await next.answer("answered")) ?? []).toString()).toBe("answer");
  expect(await store.read("me", "failed")).toMatchObject({ code: "unavailable" });
});

test("a journal keeps the newest calls, not all of them, for a day, and of each the first step and the last", async () => {
  let now = 0;
  await using journal = new CallJournal({ caller: "me", clock: () => now, maxCalls: 3 });
  for (const id of ["s", "t", "u", "v", "a", "b", "c"]) ask(journal, id);
  const last = ask(journal, "d");
  const kept = (await journal.recent(10)).map(({ toolCallId }) => toolCallId);
  expect(kept.slice(0, 3)).toEqual(["d", "c", "b"]);
  expect(kept.length).toBeLessThanOrEqual(6);
  last.note("answered");
  for (let count = 0; count < 2 * MAX_STEPS; count++) journal.answeredLate("d");
  const steps = (await journal.find("d"))?.steps ?? [];
  expect([steps.length, steps[0]?.step]).toEqual([MAX_STEPS, "asked"]);
  now += 25 * 3_600_000;
  ask(journal, "e");
  expect((await journal.recent(10)).map(({ toolCallId }) => toolCallId)).toEqual(["e"]);
});

test("answers are kept for a quarter of an hour, and not beyond what the journal may hold", async () => {
  let now = 0;
  await using journal = new CallJournal({ caller: "me", clock: () => now });
  journal.keepAnswer("small", Buffer.from("x"));
  expect(await journal.answer("small")).toEqual(Buffer.from("x"));
  for (let count = 0; count < 5; count++) journal.keepAnswer(`large-${count}`, Buffer.alloc(8 * 1024 * 1024));
  expect(await journal.answer("small")).toBeUndefined();
  expect(await journal.answer("large-4")).toBeDefined();
  now += 16 * 60_000;
  expect(await journal.answer("large-4")).toBeUndefined();
});

test("the next process finds the calls without an end, and others see all of them", async () => {
  await using store = await connectRedisJournalStore(url, { prefix: uniquePrefix() });
  {
    await using journal = new CallJournal({ caller: "me.0", store });
    for (const id of ["a", "c"]) ask(journal, id);
    ask(journal, "b").note("answered");
    journal.keepAnswer("b", Buffer.from("answer"));
    await expect.poll(async () => store.readAnswer("me.0", "b"), POLL).toEqual(Buffer.from("answer"));
  }
  expect((await store.readOpen("me.0")).map(({ toolCallId }) => toolCallId).sort()).toEqual(["a", "c"]);
  expect(await store.readOpen("me.1")).toEqual([]);
  expect(await store.readCallers()).toEqual(["me.0"]);
  expect((await store.readRecent("me.0", 2)).length).toBe(2);
  await using next = new CallJournal({ caller: "me.0", store });
  expect(await next.find("b")).toMatchObject({ state: "answered" });
  expect(await next.answer("b")).toEqual(Buffer.from("answer"));
  expect((await next.recent(10)).length).toBe(3);
});

test("what is noted while Redis is dead is written when it is back, and nobody waited", async () => {
  await using redis = await startOwnRedis();
  await using store = await connectRedisJournalStore(redis.url);
  await using journal = new CallJournal({ caller: "me", store });
  await redis.kill();
  for (let count = 0; count < 999; count++) ask(journal, `call-${count}`);
  ask(journal, "answered").note("answered"); // nothing is awaited up to here, and the journal has it all at once:
  expect((await journal.recent(5)).length).toBe(5);
  await redis.restart();
  await expect.poll(async () => (await store.readOpen("me").catch(() => [])).length, POLL).toBe(999);
});

test("a store that is away delays neither the notes nor the end of a journal", async () => {
  await using redis = await startOwnRedis();
  await using store = await connectRedisJournalStore(redis.url);
  await redis.kill();
  const journal = new CallJournal({ caller: "me", store });
  ask(journal, "a");
  expect(await Promise.race([journal[Symbol.asyncDispose](), sleep(10_000, "late", { ref: false })])).toBeUndefined();
});

test("who waits for a note knows once it is in the store, and at once that it cannot be", async () => {
  await using redis = await startOwnRedis();
  await using store = await connectRedisJournalStore(redis.url);
  await using journal = new CallJournal({ caller: "me", store });
  const calls = Array.from({ length: 600 }, (_, count) => ask(journal, `call-${count}`)); // more than one command takes
  expect(await Promise.all(calls.map((call) => journal.written(call)))).toEqual(calls.map(() => true));
  expect((await store.readOpen("me")).length).toBe(600);
  const [written] = calls as [CallNotes];
  expect(await journal.written(written)).toBe(true); // nothing is unwritten
  await redis.kill();
  const lost = ask(journal, "lost");
  expect(await journal.written(lost)).toBe(false);
  expect(await Promise.race([journal.written(lost), new Promise((resolve) => setImmediate(resolve, "late"))])).toBe(
    false,
  );
  await using memory = new CallJournal({ caller: "me" });
  expect(await memory.written(ask(memory, "a"))).toBe(false);
});

test("what nobody waits for goes to the store with what follows soon, one record a call, and is not held up by what somebody waits for", async () => {
  const written: string[] = [];
  const store = {
    async write(_caller: string, records: readonly CallRecord[]) {
      await sleep(1);
      written.push(...records.map(({ toolCallId, state }) => `${toolCallId} ${state}`));
    },
    noteAhead: () => sleep(1),
  } satisfies Partial<JournalStore> as unknown as JournalStore;
  await using journal = new CallJournal({ caller: "me", store });
  const call = ask(journal, "call");
  call.note("accepted");
  call.note("answered");
  let others = 0;
  while (!written.includes("call answered")) await journal.written(ask(journal, `other-${others++}`));
  expect(written.filter((record) => record.startsWith("call "))).toEqual(["call answered"]);
});

test("notes go on after the end of a write and the time for the next one met in one turn of the event loop", async () => {
  const gate = Promise.withResolvers<void>();
  const written: string[] = [];
  const note = (_caller: string, records: readonly CallRecord[]) => {
    written.push(...records.map(({ toolCallId }) => toolCallId));
    return written.length === 1 ? gate.promise : Promise.resolve();
  };
  const store = {
    write: note,
    noteAhead: note,
  } satisfies Partial<JournalStore> as unknown as JournalStore;
  await using journal = new CallJournal({ caller: "me", store });
  const first = ask(journal, "first");
  const taken = journal.written(first);
  while (written.length === 0) await new Promise(setImmediate);
  ask(journal, "second");
  setTimeout(() => gate.resolve(), 60);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150); // so that both timers ring together
  expect(await taken).toBe(true);
  while (written.length === 1) await sleep(1);
  await sleep(1); // the time for the next write begins with a note only
  expect(
    await Promise.race([journal.written(ask(journal, "third")), sleep(10_000, "it waits for ever", { ref: false })]),
  ).toBe(true);
});
