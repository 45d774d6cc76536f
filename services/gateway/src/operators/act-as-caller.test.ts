import { createHash } from "node:crypto";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import type { AuditLog } from "@rockbot/records/audit";
import { expect, test } from "vitest";
import { startTestGateway } from "../test-gateway.ts";
import { createLocalOperator } from "./local-operator.ts";

const hash = (token: string) => `"sha256:${createHash("sha256").update(token).digest("hex")}"`;
const POLICY = `
callers:
  gateway: { allow: [who] }
  researcher: { allow: [echo, who, wait], tokens: [{ hash: ${hash("researcher")} }] }
  writer: { allow: [fail] }
everyone: { allow: [who] }
operators:
  - { name: mute, may: [read, call], tokens: [{ hash: ${hash("mute")} }] }
  - { name: ops, may: [read, call], speaksFor: [research*], tokens: [{ hash: ${hash("ops")} }] }
`;

/** A gateway with an audit log, and the lines in it. */
async function startOperated() {
  const lines: Record<string, unknown>[] = [];
  const audit: AuditLog = {
    isWriting: true,
    write: async (line) => void lines.push({ ...line }),
    [Symbol.asyncDispose]: async () => {},
  };
  const localOperator = createLocalOperator();
  const policy = holdPolicy(createPolicy(await readPolicy(POLICY, "policy.yaml")));
  const gateway = await startTestGateway({}, policy, audit, { localOperator });
  const send = (method: string, path: string, token: string, headers: Record<string, string> = {}, body = "{}") =>
    gateway.send(
      {
        method,
        path,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
      },
      method === "GET" ? undefined : body,
    );
  return Object.assign(gateway, {
    lines,
    local: localOperator.token,
    as: (token: string, tool: string, as?: string, headers?: Record<string, string>) =>
      send("POST", `/operator/tools/${tool}/invoke${as === undefined ? "" : `?as=${as}`}`, token, headers),
    post: (path: string, token: string) => send("POST", path, token),
    get: async (path: string, token: string) => (await send("GET", path, token)).json,
  });
}

test("an operator calls as a caller it speaks for, by that caller's policy, and journal and audit name the operator", async () => {
  await using gateway = await startOperated();
  expect((await gateway.as("ops", "who", "researcher")).json).toMatchObject({ content: "researcher" });
  expect((await gateway.as(gateway.local, "who")).json).toMatchObject({ content: "gateway" });
  expect((await gateway.as("ops", "sad", "researcher")).json).toMatchObject({ code: "denied" }); // of the caller's policy

  expect(gateway.lines).toMatchObject([
    { service: "test-tools", tool: "who", caller: "researcher", operator: "ops", outcome: "ok" },
    { service: "test-tools", tool: "who", caller: "gateway", operator: "local", outcome: "ok" },
    { service: "gateway", tool: "sad", caller: "researcher", operator: "ops", outcome: "denied" },
  ]);
  const { calls } = (await gateway.get("/operator/calls?tool=who", "ops")) as { calls: readonly object[] };
  expect(calls).toMatchObject([{ operator: "local" }, { operator: "ops", onBehalfOf: "researcher" }]);
});

test("an operator who does not speak for a caller runs nothing as it, and is told for whom it speaks", async () => {
  await using gateway = await startOperated();
  const refused = async (token: string, as?: string) => {
    const { status, json } = await gateway.as(token, "who", as);
    return [status, json?.["message"]];
  };
  expect(await refused("ops")).toEqual([403, expect.stringContaining('"ops" speaks for research*')]);
  expect(await refused("ops", "writer")).toEqual([403, expect.stringContaining('Cannot call as "writer"')]);
  expect(await refused("mute", "researcher")).toEqual([403, expect.stringContaining("speaks for nobody")]);
  expect(await refused("ops", "research%2F..")).toEqual([400, expect.stringContaining("no name of a caller")]);
  expect(gateway.lines).toEqual([]);
  expect((await gateway.get("/operator/me", "ops"))?.["callers"]).toEqual(["researcher"]);
  expect((await gateway.get("/operator/me", gateway.local))?.["callers"]).toEqual(["gateway", "researcher", "writer"]);
});

test("a caller cannot write an operator into the records, and its key is not an operator's", async () => {
  await using gateway = await startOperated();
  const forged = { "rb-operator": "ops", operator: "ops", "idempotency-key": "k" };
  const auth = { authorization: "Bearer researcher" };
  const own = await gateway.invoke("who", {}, { ...auth, ...forged });
  const acted = await gateway.as("ops", "who", "researcher", { "idempotency-key": "k" });
  expect(own.json?.["toolCallId"]).not.toBe(acted.json?.["toolCallId"]);
  expect(gateway.lines.map(({ operator }) => operator)).toEqual([undefined, "ops"]);
});

test("a call is made again by whoever speaks for its caller, and only if its arguments were kept", async () => {
  await using gateway = await startOperated();
  const made = await gateway.invoke("who", {}, { authorization: "Bearer researcher", "rockbot-untrusted": "true" });
  const id = String(made.json?.["toolCallId"]);
  const again = async (token: string, of = id) => {
    const { status, json } = await gateway.post(`/operator/calls/${of}/again`, token);
    return [status, json?.["message"]];
  };
  expect(await again("mute")).toEqual([403, expect.stringContaining('Cannot call as "researcher"')]);
  expect(await again("ops")).toEqual([404, expect.stringContaining("the arguments of this call were not kept")]);
  expect(await again("ops", "0".repeat(32))).toEqual([404, expect.stringContaining("no call of this id")]);
  expect(gateway.lines).toHaveLength(1);
});
