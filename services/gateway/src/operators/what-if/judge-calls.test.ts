import { createPolicy, readPolicy } from "@rockbot/policy";
import { expect, test } from "vitest";
import { judgeCalls } from "./judge-calls.ts";
import type { PastCall } from "./past-calls.ts";

const policy = async (text: string) => createPolicy(await readPolicy(text, "policy.yaml"));
const ALL = "everyone: { allow: ['*'] }";
const call = (more: Partial<PastCall> = {}): PastCall => ({
  toolCallId: "c1",
  caller: "researcher",
  tool: "fetch_page",
  at: 1,
  hasReadUntrusted: false,
  ...more,
});

async function judged(proposed: string, ...calls: PastCall[]) {
  return judgeCalls(await policy(ALL), await policy(proposed), calls);
}

test("calls that are judged otherwise come first, with how many they are and the newest of them", async () => {
  const rows = await judged(
    "callers: { researcher: { allow: [read_page] } }",
    call({ tool: "read_page", toolCallId: "a" }),
    call({ tool: "read_page", toolCallId: "b" }),
    call({ tool: "read_page", toolCallId: "c" }),
    call({ toolCallId: "old", at: 1 }),
    call({ toolCallId: "new", at: 3 }),
  );
  expect(rows).toMatchObject([
    { tool: "fetch_page", inForce: "allowed", tried: "denied", calls: 2, newest: { toolCallId: "new", at: 3 } },
    { tool: "read_page", inForce: "allowed", tried: "allowed", calls: 3 },
  ]);
  expect(rows[0]?.because).toContain("callers.researcher.allow, line 1");
});

test("a dangerous tool needs its full name", async () => {
  const [row] = await judged("everyone: { allow: ['fetch_*'] }", call({ isDangerous: true }));
  expect(row).toMatchObject({ inForce: "denied", tried: "denied" });
});

test("a call whose arguments are not known is never judged as allowed by a rule for them", async () => {
  const rule = `everyone:
  allow: ['*']
  rules: [{ tools: [fetch_page], arguments: { properties: { url: { pattern: '^https://example' } } } }]`;
  const verdicts = async (sent: string | undefined) => (await judged(rule, call({ arguments: sent })))[0]?.tried;
  expect(await verdicts(undefined)).toBe("unknown");
  expect(await verdicts('{"url":"https://example.org"}')).toBe("allowed");
  expect(await verdicts('{"url":"http://evil"}')).toBe("denied");
});

test("a call that untrusted content led to is judged as such", async () => {
  const strict = "everyone: { allow: ['*'], afterUntrusted: { effects: deny } }";
  const verdicts = async (more: Partial<PastCall>) => (await judged(strict, call(more)))[0]?.tried;
  expect(await verdicts({ hasReadUntrusted: true })).toBe("denied");
  expect(await verdicts({ hasReadUntrusted: false })).toBe("allowed");
  expect(await verdicts({ hasReadUntrusted: true, isReadOnly: true })).toBe("allowed");
});
