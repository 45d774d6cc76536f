import { join } from "node:path";
import { startNodeProgram } from "@rockbot/testing";
import { expect, test } from "vitest";

const startMain = (env: Record<string, string>) =>
  startNodeProgram(join(import.meta.dirname, "../../main.ts"), { args: ["scripts-manager"], env });

test("a wrong configuration ends the process with code 2 and every fault", { timeout: 60_000 }, async () => {
  await using main = startMain({ SANDBOX_FLOOR: "9", SANDBOX_CEILING: "3", RUNNER: "elsewhere" });

  expect([await main.ended, main.stderr()]).toEqual([
    2,
    expect.stringMatching(/2 faults\n.*runner, from the variable RUNNER/s),
  ]);
});

test("what is unsafe cannot be asked of runners that have a sandbox, whose network it would leave untried", {
  timeout: 60_000,
}, async () => {
  await using main = startMain({ RUNNER: "container", UNSAFE_LOCAL_SCRIPTS: "true" });

  expect([await main.ended, main.stderr()]).toEqual([
    2,
    expect.stringMatching(/unsafeLocalScripts: expected with the runner local only/),
  ]);
});

test("scripts without a sandbox are refused in a cluster, in words, whatever is set", { timeout: 60_000 }, async () => {
  await using main = startMain({ UNSAFE_LOCAL_SCRIPTS: "true", KUBERNETES_SERVICE_HOST: "10.0.0.1" });

  expect(await main.ended).toBe(1);
  expect(main.stdout() + main.stderr()).toContain("never run in a cluster");
  expect(main.stdout() + main.stderr()).not.toContain("uncaught error");
});
