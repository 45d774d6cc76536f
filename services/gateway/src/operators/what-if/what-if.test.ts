import { createHash } from "node:crypto";
import type { WhatIf } from "@rockbot/console/api";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { expect, test } from "vitest";
import { startTestGateway } from "../../test-gateway.ts";

const hash = (token: string): string => `"sha256:${createHash("sha256").update(token).digest("hex")}"`;
const POLICY = `
callers:
  gateway: { allow: [echo] }
  researcher: { allow: [echo, fail], tokens: [{ hash: ${hash("of-researcher")} }] }
operators:
  - { name: ops, tokens: [{ hash: ${hash("of-ops")} }] }
  - { name: eyes, tokens: [{ hash: ${hash("of-eyes")} }], may: [read], sees: [arguments] }
keep: { tools: [echo] }
`;
const by = (token: string) => ({ authorization: `Bearer ${token}` });

async function startTried() {
  const policy = holdPolicy(createPolicy(await readPolicy(POLICY, "policy.yaml")));
  const gateway = await startTestGateway({}, policy);
  await gateway.invoke("echo", { text: "mine" }, by("of-researcher"));
  const attempt = (body: string, token = "of-ops") =>
    gateway.send({ method: "POST", path: "/operator/policy/what-if", headers: by(token) }, body);
  return Object.assign(gateway, { attempt });
}

test("another policy is tried against the calls that were made, and nothing changes by it", async () => {
  await using gateway = await startTried();
  const { status, json } = await gateway.attempt("callers: { researcher: { allow: [] } }");
  const { rows, ...outcome } = json as unknown as WhatIf;
  expect([status, rows]).toEqual([
    200,
    [expect.objectContaining({ caller: "researcher", tool: "echo", inForce: "allowed", tried: "denied", calls: 1 })],
  ]);
  expect(outcome).toMatchObject({ calls: 1, more: 0, since: expect.any(Number) });
  expect(outcome.proposed).not.toBe(outcome.inForce);
  expect((await gateway.invoke("echo", {}, by("of-researcher"))).status).toBe(200);
});

test("arguments count where they were kept and the operator may see them, and nowhere else", async () => {
  await using gateway = await startTried();
  const rule = (text: string) =>
    `everyone: { allow: [echo], rules: [{ tools: [echo], arguments: { properties: { text: { const: ${text} } } } }] }`;
  const verdict = async (...attempt: [text: string, token: string]) =>
    ((await gateway.attempt(rule(attempt[0]), attempt[1])).json as unknown as WhatIf).rows[0]?.tried;
  expect([await verdict("mine", "of-eyes"), await verdict("other", "of-eyes")]).toEqual(["allowed", "denied"]);
  expect([await verdict("mine", "of-ops"), await verdict("other", "of-ops")]).toEqual(["unknown", "unknown"]);
});

test("a text that is no policy is answered with all its faults, and with their lines", async () => {
  await using gateway = await startTried();
  const { status, json } = await gateway.attempt("callers:\n  researcher: { alow: [] }\neveryone: { allow: 7 }");
  expect(status).toBe(400);
  expect((json as { message: string }).message).toMatch(/line 2[\s\S]*line 3/);
});

test("a text that takes too long is given up, and the gateway goes on", async () => {
  await using gateway = await startTried();
  const rule = (i: number) =>
    `{ tools: [tool-${i}], arguments: { properties: { a: { pattern: "(a?){50}b{${i}}" } } } }`;
  const rules = Array.from({ length: 9_000 }, (_, i) => rule(i % 900));
  const { status, json } = await gateway.attempt(`everyone: { allow: ['*'], rules: [${rules.join(",")}] }`);
  expect([status, json]).toEqual([
    400,
    { message: expect.stringContaining("Cannot try the policy: the trial needs more") },
  ]);
  expect((await gateway.attempt("{}")).status).toBe(200);
});

test("a text that ends the process that reads it does not end the gateway", async () => {
  await using gateway = await startTried();
  const deep = `${"{not: ".repeat(3_000)}{}${"}".repeat(3_000)}`;
  const many = Array.from({ length: 40_000 }, (_, i) => `c${i}: { allow: ['*'] }`).join(", ");
  for (const text of [
    `everyone: { allow: ['*'], rules: [{ tools: ['*'], arguments: ${deep} }] }`,
    `callers: { ${many} }`,
  ]) {
    const { status, json } = await gateway.attempt(text);
    expect([status, json]).toEqual([400, { message: expect.stringMatching(/^Cannot (try|load) the policy/) }]);
  }
  expect((await gateway.attempt("{}")).status).toBe(200);
});

test("only operators may try one", async () => {
  await using gateway = await startTried();
  expect((await gateway.attempt("{}", "of-researcher")).status).toBe(401);
});
