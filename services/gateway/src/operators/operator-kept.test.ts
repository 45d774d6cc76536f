import { createHash } from "node:crypto";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import type { AuditLog } from "@rockbot/records/audit";
import { expect, test } from "vitest";
import { startTestGateway } from "../test-gateway.ts";

const hash = (token: string) => `"sha256:${createHash("sha256").update(token).digest("hex")}"`;
const operator = (name: string, sees: string) =>
  `{ name: ${name}, may: [read, call], speaksFor: [researcher], sees: [${sees}], tokens: [{ hash: ${hash(name)} }] }`;
const POLICY = `
callers: { researcher: { allow: [echo, fail, who], tokens: [{ hash: ${hash("researcher")} }] } }
keep: { tools: [echo, fail], bytes: 40 }
operators: [${operator("both", "arguments, results")}, ${operator("half", "results")}, ${operator("blind", "")}]
`;
const RESEARCHER = { authorization: "Bearer researcher" };

/** A gateway whose policy keeps texts of two tools, and the lines of its audit log. */
async function startKeeping() {
  const lines: object[] = [];
  const audit: AuditLog = {
    isWriting: true,
    write: async (line) => void lines.push({ ...line }),
    [Symbol.asyncDispose]: async () => {},
  };
  const policy = holdPolicy(createPolicy(await readPolicy(POLICY, "policy.yaml")));
  const gateway = await startTestGateway({}, policy, audit);
  const send = (method: string, path: string, token: string) =>
    gateway.send({ method, path, headers: { authorization: `Bearer ${token}` } }, method === "POST" ? "{}" : undefined);
  const call = async (tool: string, args: object) =>
    String((await gateway.invoke(tool, args, RESEARCHER)).json?.["toolCallId"]);
  return Object.assign(gateway, {
    reads: () => lines.filter((line) => "event" in line && line.event === "operator"),
    call,
    kept: async (id: string, token: string) => (await send("GET", `/operator/calls/${id}/kept`, token)).json,
    get: async (path: string, token: string) => (await send("GET", path, token)).json,
    again: async (id: string, token = "both") => send("POST", `/operator/calls/${id}/again`, token),
  });
}

test("an operator reads what is kept of a call and what it sees, and each reading has a line", async () => {
  await using gateway = await startKeeping();
  const id = await gateway.call("echo", { text: "hello" });

  expect(await gateway.kept(id, "both")).toMatchObject({
    arguments: { state: "kept", text: '{"text":"hello"}', isCut: false, isRedacted: false },
    result: { state: "kept", isCut: false },
  });
  expect(await gateway.kept(id, "half")).toMatchObject({ arguments: { state: "not-seen" }, result: { state: "kept" } });
  expect(gateway.reads()).toMatchObject([
    { operator: "both", action: "read arguments", of: id },
    { operator: "both", action: "read results", of: id },
    { operator: "half", action: "read results", of: id },
  ]);
  expect(await gateway.kept(id, "blind")).toEqual({ arguments: { state: "not-seen" }, result: { state: "not-seen" } });
  expect(gateway.reads()).toHaveLength(3);
});

test("nothing else that an operator reads has arguments or results, but for their sizes and hashes", async () => {
  await using gateway = await startKeeping();
  const word = "unmistakable";
  const id = await gateway.call("echo", { text: word });
  await gateway.call("who", { text: word });
  for (const path of ["/operator/calls", `/operator/calls/${id}`, `/operator/calls?tool=${word}`, "/operator/overview"])
    expect([path, JSON.stringify(await gateway.get(path, "blind")).includes(word)]).toEqual([path, false]);
  expect(await gateway.get(`/operator/calls/${id}`, "blind")).toMatchObject({
    call: { given: { bytes: 23, hash: expect.any(String) }, gave: { bytes: expect.any(Number) } },
  });
});

test("of a tool that the policy does not name nothing is kept; a call is made again only with its whole arguments", async () => {
  await using gateway = await startKeeping();
  const not = await gateway.call("who", {});
  expect(await gateway.kept(not, "both")).toEqual({ arguments: { state: "not-kept" }, result: { state: "not-kept" } });
  const long = await gateway.call("echo", { text: "x".repeat(100) });
  expect(await gateway.kept(long, "both")).toMatchObject({ arguments: { isCut: true } });
  expect((await gateway.again(long)).status).toBe(404);
  const whole = await gateway.call("echo", { text: "again" });
  expect((await gateway.again(whole)).json).toMatchObject({ content: expect.stringContaining("again") });
});

test("an operator who may not see arguments makes no call again, as its answer may repeat them; each reading has a line", async () => {
  await using gateway = await startKeeping();
  const id = await gateway.call("echo", { text: "unmistakable" });
  for (const token of ["half", "blind"]) {
    const { status, json } = await gateway.again(id, token);
    expect([status, json?.["message"]]).toEqual([403, expect.stringContaining(`"${token}" may not see them`)]);
  }
  expect(gateway.reads()).toEqual([]);
  expect((await gateway.again(id)).status).toBe(200);
  expect(gateway.reads()).toMatchObject([{ operator: "both", action: "read arguments", of: id }]);
});
