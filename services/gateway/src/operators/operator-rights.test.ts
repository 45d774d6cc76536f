import { createHash } from "node:crypto";
import type { OperatorRight as Right } from "@rockbot/console/api";
import { createPolicy, type Policy, readPolicy } from "@rockbot/policy";
import { expect, test } from "vitest";
import { startTestGateway } from "../test-gateway.ts";
import { OperatorRight } from "./operator.ts";
import { operatorOperations } from "./operator-api.ts";

const rights = Object.values(OperatorRight);
const hash = (token: string): string => `sha256:${createHash("sha256").update(token).digest("hex")}`;
const by = (token: string) => ({ authorization: `Bearer ${token}` });
const operator = (name: string, may: readonly Right[]) => ({ name, tokens: [{ hash: hash(name) }], may });
const policyOf = async (...operators: readonly object[]): Promise<Policy> =>
  createPolicy(await readPolicy(JSON.stringify({ everyone: { allow: ["*"] }, operators }), "policy.json"));

/** A gateway whose policy changes when the test says so. */
async function startOperated(first: Policy) {
  let policy = first;
  const gateway = await startTestGateway({}, {
    current: () => policy,
    onChange: () => () => {},
    [Symbol.asyncDispose]: async () => {},
  } as never);
  return Object.assign(gateway, {
    now: (changed: Policy) => {
      policy = changed;
    },
    ask: (method: string, path: string, token: string) =>
      gateway.send(
        { method, path, headers: { ...by(token), "content-type": "application/json" } },
        method === "POST" ? "{}" : undefined,
      ),
  });
}

test("every operation needs its right: without it nothing is done, and the answer names it", async () => {
  const without = rights.map((right) =>
    operator(
      `no-${right}`,
      rights.filter((each) => each !== right),
    ),
  );
  await using gateway = await startOperated(await policyOf(...without, operator("nothing", [])));
  for (const { method, path, right } of operatorOperations) {
    const real = path.replaceAll(/\{\w+\}/g, "wait");
    if (right === "any") {
      expect((await gateway.ask(method.toUpperCase(), real, "nothing")).status, path).toBe(200);
      continue;
    }
    for (const token of [`no-${right}`, "nothing"]) {
      const { status, json } = await gateway.ask(method.toUpperCase(), real, token);
      expect([path, status, json?.["message"]]).toEqual([
        path,
        403,
        expect.stringContaining(`it needs the right "${right}"`),
      ]);
    }
  }
  expect(gateway.waiting).toEqual([]);
});

test("what is no operation is not handed on, however its path is written", async () => {
  await using gateway = await startOperated(await policyOf(operator("all", rights)));
  for (const [method, path] of [
    ["GET", "/operator/secrets"],
    ["GET", "/operator/calls/"],
    ["GET", "/operator//calls"],
    ["GET", "/operator/%63alls"],
    ["POST", "/operator/tools/wait/inv%6fke"],
    ["PUT", "/operator/tools/wait/invoke"],
    ["POST", "/operator/tools/a/b/invoke"],
  ] as const)
    expect([path, (await gateway.ask(method, path, "all")).status]).toEqual([path, 404]);
  expect((await gateway.ask("HEAD", "/operator/me", "all")).status).toBe(200);
  expect(gateway.waiting).toEqual([]);
});

test("a right that the policy takes away is gone with the next request, and so is a token", async () => {
  await using gateway = await startOperated(await policyOf(operator("ops", ["read", "letters"])));
  const mine = async () => (await gateway.ask("GET", "/operator/me", "ops")).json;
  expect(await mine()).toMatchObject({
    operator: { name: "ops", may: ["read", "letters"], speaksFor: [], sees: [] },
  });
  expect((await gateway.ask("GET", "/operator/tools", "ops")).status).toBe(200);

  gateway.now(await policyOf(operator("ops", ["letters"]), operator("other", [])));
  expect(await mine()).toMatchObject({ operator: { may: ["letters"] } });
  expect((await gateway.ask("GET", "/operator/tools", "ops")).status).toBe(403);
  gateway.now(await policyOf(operator("ops", ["read"])));
  const stream = await fetch(`${gateway.url}/operator/stream`, { headers: by("ops") });
  gateway.now(await policyOf(operator("ops", ["letters"])));
  expect(await stream.text()).toContain("event: overview"); // it ends
  gateway.now(await policyOf(operator("other", [])));
  expect((await gateway.ask("GET", "/operator/me", "ops")).status).toBe(401);
});
