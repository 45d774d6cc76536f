import type { ScriptOutcome } from "@rockbot/sandbox";
import { expect, test } from "vitest";
import { describeOutcome } from "./describe-outcome.ts";

const ended: ScriptOutcome = {
  stdout: "42\n",
  stderr: "",
  droppedBytes: { stdout: 0, stderr: 0 },
  exitCode: 0,
  signal: null,
  limit: null,
  strangers: 0,
  passedFiles: 0,
  timeoutMs: 30_000,
  durations: { waitMs: 1.23456, runMs: 20 },
  isWarm: true,
};
const described = (outcome: Partial<ScriptOutcome>) =>
  describeOutcome({ ...ended, ...outcome }, { timeoutMs: 30_000, maxTimeoutSeconds: 300, pinned: ["numpy==2.3.5"] });

test("the content of a script that succeeds is its stdout alone, and everything is there in fields", () => {
  const { content, structured, isError } = described({ stderr: "a warning" });
  expect({ content, isError }).toEqual({ content: "42\n", isError: false });
  expect(structured).toEqual({
    stdout: "42\n",
    stderr: "a warning",
    exit_code: 0,
    signal: null,
    limit: null,
    duration_ms: 20,
    wait_ms: 1.235,
    timeout_seconds: 30,
    truncated: false,
    dropped_bytes: { stdout: 0, stderr: 0 },
    is_warm: true,
    pip_packages: ["numpy==2.3.5"],
  });
});

test("a script that prints nothing says so", () => {
  expect(described({ stdout: "" }).content).toBe("(no output)");
});

test.each<[string, Partial<ScriptOutcome>, RegExp]>([
  [
    "a bad exit code",
    { exitCode: 3, stderr: "Traceback\nValueError: bad\n" },
    /exit code 3\. .*\n\nstderr:\nTraceback\nValueError: bad\n\nstdout:\n42$/s,
  ],
  ["time", { exitCode: null, limit: "time" }, /timed out after 30 s .* timeout_seconds up to 300/],
  [
    "time that its call did not have",
    { exitCode: null, limit: "time", timeoutMs: 9_500 },
    /timed out after 9\.5 s .* deadline of its call left it no more/,
  ],
  ["memory", { exitCode: null, limit: "memory", signal: "SIGKILL" }, /used more memory than it may/],
  ["processes", { exitCode: 1, limit: "processes" }, /more processes or threads than it may/],
  ["a signal", { exitCode: null, signal: "SIGSEGV" }, /ended by SIGSEGV/],
  ["silence", { exitCode: 1, stdout: "" }, /It printed nothing\.$/],
])("a script that fails by %s is told in words", (_name, outcome, words) => {
  const { content, isError } = described(outcome);
  expect(isError).toBe(true);
  expect(content).toMatch(words);
});

test("of much output that failed the end is shown, and what was not kept is counted", () => {
  const { content, structured } = described({
    exitCode: 1,
    stderr: `${"x".repeat(9_000)}the end`,
    droppedBytes: { stdout: 7, stderr: 0 },
  });
  expect(content).toMatch(/the last 4000 characters of 9007:\nx+the end\n/);
  expect(content).toMatch(/\[7 further bytes of stdout were printed and are not kept\. Print less\.\]$/);
  expect(structured).toMatchObject({ truncated: true, dropped_bytes: { stdout: 7, stderr: 0 } });
  expect(described({ droppedBytes: { stdout: 7, stderr: 0 } }).content).toMatch(/^42\n\n\n\[7 further bytes/);
});
