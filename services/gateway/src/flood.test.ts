import { createHash } from "node:crypto";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { floodSockets } from "@rockbot/testing";
import { expect, test } from "vitest";
import { startTestGateway } from "./test-gateway.ts";

const hashOf = (token: string): string => `"sha256:${createHash("sha256").update(token).digest("hex")}"`;
const POLICY = `
callers: { writer: { allow: [echo, wait], tokens: [{ hash: ${hashOf("token-of-the-writer")} }] } }
operators: [{ name: ops, tokens: [{ hash: ${hashOf("token-of-the-operator")} }] }]
`;
const policyOf = async () => holdPolicy(createPolicy(await readPolicy(POLICY, "policy.yaml")));
const by = (token: string) => ({ authorization: `Bearer ${token}` });

test.each(["silent", "trickle"] as const)(
  "3 000 %s connections keep out neither callers, nor operators, nor probes",
  { timeout: 120_000 },
  async (kind) => {
    await using gateway = await startTestGateway({ requestTimeoutMs: 5000 }, await policyOf());
    using _flood = await floodSockets({ port: gateway.port, host: "127.0.0.1" }, 3000, kind);

    for (let round = 0; round < 3; round++) {
      expect((await gateway.invoke("echo", { a: 1 }, by("token-of-the-writer"))).status).toBe(200);
      expect((await gateway.send({ path: "/operator/policy", headers: by("token-of-the-operator") })).status).toBe(200);
      expect((await gateway.send({ path: "/healthz" })).status).toBe(200);
    }
  },
);

test("as many calls as may run keep out no operator", async () => {
  await using gateway = await startTestGateway({ maxConcurrent: 1 }, await policyOf());
  const running = gateway.invoke("wait", { id: 1 }, { ...by("token-of-the-writer"), "rockbot-timeout-ms": "1000" });
  await expect.poll(() => gateway.waiting.length).toBe(1);

  expect((await gateway.invoke("echo", {}, by("token-of-the-writer"))).status).toBe(503);
  expect((await gateway.send({ path: "/operator/policy", headers: by("token-of-the-operator") })).status).toBe(200);
  await running;
});

test("a proxy that is no address is a fault of the configuration", async () => {
  await expect(startTestGateway({ proxies: ["ingress"] })).rejects.toThrow("proxies.0: expected an address such as");
});
