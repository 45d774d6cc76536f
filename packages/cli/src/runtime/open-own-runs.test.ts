import { mkdtempDisposable, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { openOwnRuns } from "./open-own-runs.ts";

const quiet = { debug: () => {}, info: () => {}, error: () => {} };

test("runs lie in a file that its user alone can read, and in memory where another process has it, or it cannot be used", async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), "own-runs-"));
  const warn = vi.fn();
  const open = (path: string) => openOwnRuns({ DATA_DIRECTORY: path }, { ...quiet, warn });
  const data = join(folder.path, "data");
  await using first = await open(data);
  expect(warn).not.toHaveBeenCalled();
  expect((await stat(join(data, "runs.db"))).mode & 0o777).toBe(0o600);

  await using second = await open(data);
  await writeFile(join(folder.path, "file"), "");
  await using third = await open(join(folder.path, "file"));

  expect(warn.mock.calls.map(([fields]) => (fields as { readonly reason: string }).reason)).toEqual([
    expect.stringContaining("another process uses it"),
    expect.stringContaining("Set DATA_DIRECTORY"),
  ]);
  for (const store of [first, second, third]) expect(await store.open("web-tools", 1)).toEqual([]);
});
