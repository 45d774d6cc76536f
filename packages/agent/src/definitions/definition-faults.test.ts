import { expect, test } from "vitest";
import { testDefinition } from "../test-definitions.ts";
import { definitionFaults, nameFault } from "./definition-faults.ts";
import { definitionHash } from "./definition-hash.ts";

test("a name is one that a tool can end with, and none of a tool that there is", () => {
  for (const name of ["clerk", "travel-clerk", "a1_b2", "x".repeat(48)]) expect(nameFault(name)).toBeUndefined();
  for (const name of ["", "Clerk", "1st", "a__b", "a-", "-a", "a b", "a.b", "ü", "x".repeat(49)])
    expect(nameFault(name), name).toMatch(/^name: .* is not a valid name\. Use at most 48/);
  for (const name of ["final_report", "task_status", "batch", "chat", "events", "helper", "final-report"])
    expect(nameFault(name), name).toMatch(/is taken, as agent__/);
});

test("all that is wrong with a definition is said at once", () => {
  expect(definitionFaults(testDefinition("clerk", { budgets: { maxTokens: 5_000 }, destinations: ["other"] }))).toEqual(
    [],
  );
  const wrong = testDefinition("No Name", {
    description: "x".repeat(2_001),
    playbook: " ",
    tools: Array.from({ length: 257 }, () => "x"),
    destinations: Array.from({ length: 33 }, () => "x"),
    budgets: { maxTokens: 10, maxIterations: 1.5, timeoutMs: 1e9, maxCost: 0 },
    reportSchema: { description: "x".repeat(40_000) },
  });
  expect(definitionFaults(wrong).map((fault) => fault.replace(/[,.] .*$/, ""))).toEqual([
    expect.stringMatching(/^name: "No Name" is not a valid name/),
    "description: expected at most 2000 characters",
    "playbook: is blank",
    "tools: expected at most 256",
    "destinations: expected at most 32",
    "maxTokens: expected a whole number from 1000 to 100000000",
    "maxIterations: expected a whole number from 1 to 200",
    "timeoutMs: expected a whole number from 1000 to 1200000",
    "maxCost: expected a number above 0",
    "reportSchema: expected at most 32768 characters",
  ]);
});

test("whatever decides what a session does changes the hash, and the order of keys does not", () => {
  const plain = testDefinition("clerk", { budgets: { maxTokens: 5_000, timeoutMs: 9_000 } });
  const hash = definitionHash(plain);
  expect(definitionHash({ ...plain, budgets: { timeoutMs: 9_000, maxTokens: 5_000 }, destinations: [] })).toBe(hash);
  const changes = [
    { name: "other" },
    { description: "x" },
    { playbook: "x" },
    { tools: [] },
    { model: "x" },
    { budgets: {} },
    { budgets: { ...plain.budgets, maxCost: 1 } },
    { destinations: ["x"] },
    { reportSchema: {} },
    { maker: "x" },
    { isUntrusted: true },
  ];
  expect(new Set([hash, ...changes.map((change) => definitionHash({ ...plain, ...change }))]).size).toBe(
    changes.length + 1,
  );
});
