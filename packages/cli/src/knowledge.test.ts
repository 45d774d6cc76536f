import { linkSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { runCli, startCli } from "./test-cli.ts";

const KILLS = 4;
const WRITERS = 10;
/** The lines of each writer: enough that all write at the same time. */
const EACH = 300;

const line = (id: string, more: object = {}): string =>
  JSON.stringify({ id, title: `Title of ${id}`, body: `the words of ${id}`, category: "News", ...more });

/** Commands over a database of their own. */
function commands(folder: string) {
  const env = { DATA_DIRECTORY: join(folder, "data") };
  const run = (...args: string[]) => runCli(args, { folder, env });
  const exported = async () =>
    (await run("knowledge", "export")).stdout
      .split("\n")
      .filter(Boolean)
      .map((text) => JSON.parse(text) as { readonly id: string });
  return { env, run, exported };
}

test("a folder is imported, found by a call, imported again without a change, and exported in the form that is imported", async () => {
  using folder = temporaryFolder();
  const { run } = commands(folder.path);
  const notes = join(folder.path, "notes");
  mkdirSync(notes);
  writeFileSync(
    join(notes, "release.md"),
    "---\ntitle: Release checklist\nkind: node\ntags: [ops]\n---\nRun the tests, then tag.",
  );
  writeFileSync(join(notes, "other.md"), "# Other\n\nNothing.");
  expect((await run("knowledge", "import", notes)).stderr).toMatch(
    /Imported .*notes into the file .*: 2 new, 0 changed, 0 as they were/,
  );
  expect((await run("knowledge", "import", notes)).stderr).toContain("0 new, 0 changed, 2 as they were");
  const called = await run("call", "knowledge_search", '{"query":"tagging","tags":["OPS"]}');
  expect(called.stdout).toContain("1. Release checklist (id release; node by operator, #ops");
  const file = join(folder.path, "all.jsonl");
  expect((await run("knowledge", "export", file)).stderr).toContain("Exported 2 items");
  expect((await run("knowledge", "import", file)).stderr).toContain("0 new, 0 changed, 2 as they were");
});

test("an export replaces a file as a whole, and says why it cannot write one", async () => {
  using folder = temporaryFolder();
  const { run } = commands(folder.path);
  const [items, backup, old] = ["items.jsonl", "backup.jsonl", "old.jsonl"].map((name) => join(folder.path, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(items, line("a"));
  await run("knowledge", "import", items);
  writeFileSync(backup, "the backup before");
  linkSync(backup, old);

  expect((await run("knowledge", "export", backup)).stderr).toContain("Exported 1 item of");
  expect([readFileSync(old, "utf8"), JSON.parse(readFileSync(backup, "utf8"))]).toEqual([
    "the backup before",
    expect.objectContaining({ id: "a" }),
  ]);
  expect(readdirSync(folder.path).filter((name) => name.startsWith("backup"))).toEqual(["backup.jsonl"]);
  const full = await run("knowledge", "export", "/dev/full");
  expect([full.code, full.stderr]).toEqual([
    1,
    expect.stringContaining("Cannot write /dev/full: the disk is full (ENOSPC)"),
  ]);
  expect((await run("knowledge", "export", join(folder.path, "none", "x"))).stderr).toContain(
    "there is no such folder",
  );
});

test("an import with one wrong line imports nothing, and says which line", async () => {
  using folder = temporaryFolder();
  const { run, exported } = commands(folder.path);
  const file = join(folder.path, "items.jsonl");
  writeFileSync(file, `${line("a")}\n${line("b", { kind: "blog" })}\n`);
  const failed = await run("knowledge", "import", file, "--space", "team");
  expect([failed.code, failed.stderr]).toEqual([
    1,
    expect.stringMatching(/items\.jsonl, line 2: kind: "blog" is none of post, /),
  ]);
  expect(await exported()).toEqual([]);
  expect((await run("knowledge", "import", file, "--space", "A b", "--owner", "c d")).stderr).toMatch(
    /--owner: expected .*--space: expected /s,
  );
});

test("an import that is killed leaves nothing half: all of an import is there, or none", {
  timeout: 240_000,
}, async () => {
  using folder = temporaryFolder();
  const { env, run, exported } = commands(folder.path);
  const file = join(folder.path, "items.jsonl");
  await run("knowledge", "export"); // makes the database
  let imported = 0;
  for (let round = 0; round < KILLS; round++) {
    writeFileSync(file, Array.from({ length: 4_000 }, (_, i) => line(`${round}-${i}`)).join("\n"));
    await using child = startCli(["knowledge", "import", file], { folder: folder.path, env });
    // Killed as soon as it has written so much, which is another moment of its work in each round.
    const bytes = () => statSync(join(env.DATA_DIRECTORY, "knowledge.db-wal"), { throwIfNoEntry: false })?.size ?? 0;
    await expect
      .poll(() => bytes() > round * 400_000 || child.stderr().includes("Imported"), { timeout: 60_000, interval: 1 })
      .toBe(true);
    child.kill("SIGKILL");
    await child.ended;
    const count = (await exported()).length - imported;
    expect([0, 4_000]).toContain(count);
    imported += count;
  }
  expect((await run("knowledge", "import", file)).code).toBe(0);
  const ids = (await exported()).map(({ id }) => id);
  expect(ids.filter((id) => id.startsWith(`${KILLS - 1}-`))).toHaveLength(4_000);
  const found = await run("call", "knowledge_search", '{"query":"words","categories":["news"]}');
  expect(found.stdout).not.toContain("Errors:");
});

test("ten processes that write at once all write", { timeout: 240_000 }, async () => {
  using folder = temporaryFolder();
  const { env, exported } = commands(folder.path);
  const ended = Array.from({ length: WRITERS }, (_, writer) => {
    const file = join(folder.path, `items-${writer}.jsonl`);
    writeFileSync(file, Array.from({ length: EACH }, (_, i) => line(`${writer}-${i}`)).join("\n"));
    return runCli(["knowledge", "import", file, "--owner", `writer-${writer}`], {
      folder: folder.path,
      env: { ...env, BUSY_TIMEOUT_MS: "120000" },
    });
  });
  for (const { code, stderr } of await Promise.all(ended))
    expect([code, stderr]).toEqual([0, expect.stringContaining(`${EACH} new`)]);
  expect((await exported()).length).toBe(WRITERS * EACH);
});

test("a folder that cannot be written to turns off knowledge alone, and a call of it says why", async () => {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "file"), "");
  const options = { folder: folder.path, env: { DATA_DIRECTORY: join(folder.path, "file/data") } };
  expect((await runCli(["call", "knowledge_search", '{"query":"x"}'], options)).stderr).toMatch(
    /"knowledge_search": it is off[.] Cannot keep data .*DATA_DIRECTORY/,
  );
  expect((await runCli(["call", "list_tool_guides"], options)).stdout).toContain("scheduling");
});
