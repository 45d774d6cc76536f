import { generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import { type Decision, isApproved, judgeDecision, signDecision } from "./decision.ts";
import type { Binding, Run } from "./run.ts";
import { testRun } from "./test-run.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const run = testRun();
const approval = run.approval as NonNullable<Run["approval"]>;
const approve = (operator: string, of = run, key = privateKey) =>
  signDecision(key, of, { verdict: "approve", operator });

test("a decision counts for the run that was shown, of an operator who is asked", () => {
  expect(judgeDecision(run, approve("ann"), publicKey)).toMatchObject({ isApproved: true });
  expect(judgeDecision(run, approve("eve"), publicKey)).toMatch(/asks ann or bob, and not "eve"/);
  expect(judgeDecision({ ...run, operator: "ann" }, approve("ann"), publicKey)).toMatch(/"ann" made this call/);
  expect(judgeDecision({ ...run, approval: undefined }, approve("ann"), publicKey)).toMatch(/nobody was asked/);
});

test.each<[keyof Binding | "runId" | "service" | "toolCallId", Run]>([
  ["runId", { ...run, runId: "other" }],
  ["service", { ...run, service: "other" }],
  ["toolCallId", { ...run, toolCallId: "c2" }],
  ["caller", { ...run, caller: "eve", approval: { ...approval, binding: { ...approval.binding, caller: "eve" } } }],
  ["tool", { ...run, toolName: "pay", approval: { ...approval, binding: { ...approval.binding, tool: "pay" } } }],
  ["argumentsHash", { ...run, approval: { ...approval, binding: { ...approval.binding, argumentsHash: "x" } } }],
  ["definitionHash", { ...run, approval: { ...approval, binding: { ...approval.binding, definitionHash: "x" } } }],
  ["decisionHash", { ...run, approval: { ...approval, binding: { ...approval.binding, decisionHash: "x" } } }],
])("a decision about another %s is void", (_, other) => {
  expect(judgeDecision(other, approve("ann"), publicKey)).toMatch(/it is about another/);
  const decided = { ...other, approval: { ...(other.approval as typeof approval), decisions: [approve("ann")] } };
  expect(isApproved(decided, decided.approval.binding, publicKey)).toBe(false);
});

test("a decision is about the arguments that were shown, whatever the record says of their hash", () => {
  const shown = { ...run, approval: { ...approval, arguments: '{"to":"eve"}' } };
  expect(judgeDecision(run, approve("ann", shown), publicKey)).toMatch(/another text of arguments/);
});

test("a decision that somebody has changed, or signed themselves, is none", () => {
  const signed = approve("ann");
  const words = JSON.parse(signed.statement) as Decision;
  const forged = generateKeyPairSync("ed25519").privateKey;
  for (const changed of [
    { ...signed, statement: JSON.stringify({ ...words, operator: "bob" }) },
    { ...signed, signature: "" },
    approve("ann", run, forged),
  ])
    expect(judgeDecision(run, changed, publicKey)).toMatch(/signature is not/);
});

test("as many different operators approve as are needed, of each rule, and one who rejects is enough", () => {
  const asked = [
    { by: ["ann", "bob", "cy"], needed: 2 },
    { by: ["cy"], needed: 1 },
  ];
  const asking = (decisions: readonly ReturnType<typeof approve>[]): Run => ({
    ...run,
    approval: { ...approval, asked, decisions },
  });
  const [ann, bob, cy] = ["ann", "bob", "cy"].map((name) => approve(name)) as [
    ReturnType<typeof approve>,
    ReturnType<typeof approve>,
    ReturnType<typeof approve>,
  ];
  expect(judgeDecision(asking([]), ann, publicKey)).toMatchObject({ isApproved: false });
  expect(judgeDecision(asking([ann]), approve("ann"), publicKey)).toMatch(/"ann" has decided already/);
  expect(judgeDecision(asking([ann]), bob, publicKey)).toMatchObject({ isApproved: false });
  expect(judgeDecision(asking([ann]), cy, publicKey)).toMatchObject({ isApproved: true });
  expect(isApproved(asking([ann, cy]), approval.binding, publicKey)).toBe(true);
  expect(isApproved(asking([ann, bob]), approval.binding, publicKey)).toBe(false);
  expect(isApproved(asking([ann, cy]), { ...approval.binding, definitionHash: "x" }, publicKey)).toBe(false);
  const no = signDecision(privateKey, run, { verdict: "reject", operator: "bob", note: "not now" });
  expect(isApproved(asking([ann, cy, no]), approval.binding, publicKey)).toBe(false);
  // A record that somebody has filled by hand, with the same approval many times.
  expect(isApproved(asking([ann, approve("ann"), approve("ann")]), approval.binding, publicKey)).toBe(false);
});
