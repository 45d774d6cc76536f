import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startNodeProgram, type TemporaryFolder, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";

const MAIN = join(import.meta.dirname, "run-with-second-try.ts");
const REPORTER = join(import.meta.dirname, "closing-line-reporter.ts");

/**
 * Test files by their names: each has a test that passes, and one that fails in so many runs. The latter also does what
 * `leftBehind` says.
 */
function project(failures: Readonly<Record<string, number>>, leftBehind = ""): TemporaryFolder {
  const folder = temporaryFolder();
  folder.write(
    "vitest.config.ts",
    `import { ClosingLineReporter } from ${JSON.stringify(REPORTER)};
export default { test: { globals: true, reporters: [new ClosingLineReporter()] } };`,
  );
  for (const [name, count] of Object.entries(failures)) {
    const runs = JSON.stringify(join(folder.path, `${name}.runs`));
    folder.write(
      `${name}.test.js`,
      `import { appendFileSync, readFileSync } from "node:fs";
test("is well", () => {});
test("counts", () => {
  appendFileSync(${runs}, "x");
  ${leftBehind}
  expect(readFileSync(${runs}, "utf8").length).toBeGreaterThan(${count});
});`,
    );
  }
  return folder;
}

async function runIn(folder: TemporaryFolder) {
  const note = join(folder.path, "note");
  writeFileSync(note, "");
  await using main = startNodeProgram(MAIN, { cwd: folder.path, env: { ROCKBOT_TEST_NOTE_FILE: note } });
  const code = await main.ended;
  return {
    code,
    lines: main.stdout().trim().split("\n"),
    note: readFileSync(note, "utf8"),
    runs: (name: string) => readFileSync(join(folder.path, `${name}.runs`), "utf8").length,
  };
}

test("a test that fails in the crowd and passes alone is named, and counted in the last line", async () => {
  using folder = project({ steady: 0, crowded: 1 });
  const { code, lines, note, runs } = await runIn(folder);
  expect(lines).toContain("failed in the crowd, passed alone: crowded.test.js > counts");
  expect(lines.at(-1)).toBe("4 passed, 0 failed, 1 failed in the crowd and passed alone");
  expect([code, note, runs("steady"), runs("crowded")]).toEqual([0, ", 1 failed in the crowd and passed alone", 1, 2]);
});

test("a test that fails again fails the run", async () => {
  using folder = project({ steady: 0, crowded: 1, broken: 2 });
  const { code, lines, note } = await runIn(folder);
  expect(lines.at(-1)).toBe("5 passed, 1 failed");
  expect(lines.join("\n")).not.toContain("passed alone");
  expect([code, note]).toEqual([1, ""]);
});

test("what a failed test leaves behind is tried again with it; an error of a file that passed is not", async () => {
  const rejection = "if (readFileSync(RUNS).length === 1) Promise.reject(new Error('left behind'));";
  using failing = project({ crowded: 1 }, rejection.replace("RUNS", JSON.stringify("crowded.runs")));
  const tried = await runIn(failing);
  expect([tried.code, tried.lines.at(-1), tried.runs("crowded")]).toEqual([
    0,
    "2 passed, 0 failed, 1 failed in the crowd and passed alone",
    2,
  ]);
  using passing = project({ well: 0 }, rejection.replace("RUNS", JSON.stringify("well.runs")));
  const untried = await runIn(passing);
  expect([untried.code, untried.lines.at(-1), untried.runs("well")]).toEqual([1, "2 passed, 1 failed", 1]);
});

test("where many files fail, none is run again", async () => {
  using folder = project(Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`file${index}`, 1])));
  const { code, lines, runs } = await runIn(folder);
  expect([code, lines.at(-1), runs("file0")]).toEqual([1, "11 passed, 11 failed", 1]);
});
