import { type CaseResult, runConformance } from "@rockbot/cli/conformance";
import { sharedAmqpUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { uniqueName } from "../broker/messages.ts";
import { exampleService } from "./example-service.ts";
import { type Fault, faults } from "./faults.ts";

const url = await sharedAmqpUrl();

async function examine(fault: Fault): Promise<readonly CaseResult[]> {
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

const brokenBy = (results: readonly CaseResult[]) => results.flatMap(({ outcome, clause, why }) => (outcome === "broken" ? [`${clause}: ${why}`] : []));

// All at once: what a service is tried for is mostly waiting.
const runs = new Map(Object.entries({ ...faults, "has no fault": () => ({ breaks: [] }) }).map(([name, make]) => [name, examine(make())]));
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
