import { mkdtemp, mkdtempDisposable, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { END_KEPT_MS } from "../../run.ts";
import { Runs } from "../../runs.ts";
import { testRun } from "../../test-run.ts";
import { openSqliteRunStore } from "../open-sqlite-run-store.ts";
import { testRunStore } from "../test-run-store.ts";

testRunStore("SqliteRunStore", () => openSqliteRunStore(undefined));

test("runs in a file outlive their process, and an end is forgotten after its time", async () => {
  const folder = await mkdtemp(join(tmpdir(), "runs-"));
  const file = join(folder, "runs.sqlite");
  let now = 1_000;
  const clock = () => now;
  try {
    {
      await using store = await openSqliteRunStore(file, { clock });
      await store.create(testRun({ expiresAt: 2_000 }));
      await new Runs(store).change(testRun(), { kind: "cancelled", end: { code: "cancelled", at: 1_500 } });
    }
    await using store = await openSqliteRunStore(file, { clock });
    expect((await store.read(testRun()))?.run.end?.code).toBe("cancelled");
    now = 2_000 + END_KEPT_MS;
    expect(await store.read(testRun())).toBeUndefined();
    expect(await store.create(testRun({ createdAt: now, expiresAt: now + 1 }))).toBe(true);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a file of runs has one process at a time", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "runs-"));
  const file = join(folder.path, "runs.db");
  {
    await using _first = await openSqliteRunStore(file);
    await expect(openSqliteRunStore(file)).rejects.toThrow(`Cannot open the runs of ${file}: another process uses it`);
  }
  await using _next = await openSqliteRunStore(file);
});
