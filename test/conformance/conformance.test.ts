import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createSemaphore } from "@rockbot/base";
import { type CaseResult, runConformance } from "@rockbot/conformance";
import { sharedAmqpUrl, startNodeProgram, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { uniqueName } from "../broker/messages.ts";
import { exampleService } from "./example-service.ts";
import { type Fault, faults } from "./faults.ts";

const url = await sharedAmqpUrl();

async function examine(fault: Fault): Promise<readonly CaseResult[]> {
  using _turn = await turns.acquire();
  const service = uniqueName();
  await using example = exampleService(url, service, fault);
  const isRestarted = fault.lacksArguments === undefined;
  if (!isRestarted) await example.start();
  const call = (ms: number) => ({ tool: "count", arguments: JSON.stringify({ ms }) });
  return await runConformance({
    url,
    topic: `tool.invoke.${service}`,
    service,
    quick: call(0),
    slow: call(1_200),
    process: isRestarted ? example : undefined,
  });
}

const brokenBy = (results: readonly CaseResult[]) =>
  results.flatMap(({ outcome, clause, why }) => (outcome === "broken" ? [`${clause}: ${why}`] : []));

// Some at once: what a service is tried for is mostly waiting, but one that hears too late of what happens breaks
// clauses. In the order of the tests.
const turns = createSemaphore(6);
const runs = new Map(
  Object.entries({ "has no fault": () => ({ breaks: [] }), ...faults }).map(([name, make]) => [name, examine(make())]),
);
for (const run of runs.values()) run.catch(() => {}); // the test that waits for it says so

test("a service of serveTools keeps every clause, and is tried for all of them", async () => {
  const results = (await runs.get("has no fault")) ?? [];
  expect(results.filter(({ outcome }) => outcome !== "kept")).toEqual([]);
  expect(results.length).toBeGreaterThanOrEqual(35);
});

test.each(Object.entries(faults))("a service that %s breaks what it should, and nothing else", async (name, make) => {
  const results = (await runs.get(name)) ?? [];
  const clauses = new Set(brokenBy(results).map((line) => line.slice(0, line.indexOf(":"))));
  expect([...clauses].sort(), brokenBy(results).join("\n")).toEqual([...make().breaks].sort());
});

test("a command that exits has ended the run, which says how; the command gets the bus as BUS_URL", async () => {
  const service = uniqueName();
  const command = `test "$BUS_URL" = '${url}' && exit 37`;
  const args = [
    "conformance",
    "--bus",
    url,
    "--topic",
    `tool.invoke.${service}`,
    "--tool",
    "count",
    "--command",
    command,
  ];
  await using cli = startNodeProgram(join(import.meta.dirname, "../../packages/cli/src/main.ts"), { args });

  expect(await cli.ended, cli.stderr()).toBe(1);
  expect(cli.stdout()).toContain(`the command exited with code 37, and nobody consumes "rockbot.${service}.v1"`);
});

test("a service whose list cannot be read learns what is wrong with it, and none of its definitions counts as kept", async () => {
  const results = (await runs.get("offers a tool with a name that no tool can have")) ?? [];
  for (const clause of ["list", "definition"])
    expect(results).toContainEqual(
      expect.objectContaining({
        clause,
        outcome: "broken",
        why: expect.stringMatching(/^the list came, and cannot be used: .*odd:tool/),
      }),
    );
});

test("rockbot tools says why the list of a service cannot be used", async () => {
  const service = uniqueName();
  await using example = exampleService(
    url,
    service,
    faults["offers a tool with a name that no tool can have"]?.() as Fault,
  );
  await example.start();
  await using cli = startNodeProgram(join(import.meta.dirname, "../../packages/cli/src/main.ts"), {
    args: ["tools", "--bus", url],
  });

  expect(await cli.ended, cli.stderr()).toBe(0);
  expect(cli.stderr()).toMatch(
    new RegExp(`the list of service ${service} cannot be used: ToolAnnouncement: .*odd:tool`),
  );
});

test("rockbot conformance says in words what is broken, with the clause, and ends with code 1", async () => {
  const service = uniqueName();
  await using example = exampleService(url, service, faults["answers without the correlation-id"]?.() as Fault);
  await example.start();
  const args = [
    "conformance",
    "--bus",
    url,
    "--topic",
    `tool.invoke.${service}`,
    "--tool",
    "count",
    "--arguments",
    '{"ms":0}',
  ];
  await using cli = startNodeProgram(join(import.meta.dirname, "../../packages/cli/src/main.ts"), { args });

  expect(await cli.ended, cli.stderr()).toBe(1);
  expect(cli.stdout()).toMatch(
    /^broken +answer-correlation: answers have the correlation-id of their requests\n +.*the request's is "[0-9a-f]{32}"\n +The contract: .*correlation-id/m,
  );
  expect(cli.stdout()).toMatch(/^not tried +cancel-running: .*\n +it needs a slow call: --slow-arguments/m);
  expect(cli.stderr()).toMatch(/ kept, 1 broken, \d+ not tried/);
});

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)("after %s the service that the command started is gone, and the code is %i", async (signal, code) => {
  using folder = temporaryFolder();
  const service = uniqueName();
  const pidFile = join(folder.path, "pid");
  const args = [
    "conformance",
    "--bus",
    url,
    "--topic",
    `tool.invoke.${service}`,
    "--tool",
    "count",
    "--command",
    `echo $$ > ${pidFile}; sleep 600`,
  ];
  await using cli = startNodeProgram(join(import.meta.dirname, "../../packages/cli/src/main.ts"), { args });
  await expect.poll(() => existsSync(pidFile) && readFileSync(pidFile, "utf8"), { timeout: 30_000 }).toMatch(/\n/);
  const pid = Number(readFileSync(pidFile, "utf8"));
  cli.kill(signal);

  expect(await cli.ended, cli.stderr()).toBe(code);
  await expect.poll(() => isAlive(pid), { timeout: 30_000 }).toBe(false);
});

/** Tells whether any process of the group lives. */
function isAlive(group: number): boolean {
  try {
    return process.kill(-group, 0);
  } catch {
    return false;
  }
}
