import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { silentLogger } from "@rockbot/bus";
import { ToolError } from "@rockbot/contracts";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { type AuditLog, createAuditKey, openAuditLog, verifyAudit } from "@rockbot/records/audit";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { startTestGateway } from "../test-gateway.ts";
import { RefusalLog } from "./refusal-log.ts";

const KEY = "a key that replicas share";
const WRONG = "tok3n-of-a-stranger-4711";
const hashOf = (token: string): string => `sha256:${createHash("sha256").update(token).digest("hex")}`;

/** A gateway and a service that write one chain, and what stands in it. */
async function startAudited(folder: string) {
  await using stack = new AsyncDisposableStack();
  const file = join(folder, "audit.jsonl");
  const audit = stack.use(await openAuditLog(file, { key: KEY }));
  const yaml = `callers: { alice: { allow: [echo, wait], tokens: [{ hash: "${hashOf("alice-token")}" }] } }\noperators: [{ name: ops, tokens: [{ hash: "${hashOf("ops")}" }] }]`;
  const policy = holdPolicy(createPolicy(await readPolicy(yaml, "of the test")));
  const gateway = stack.use(await startTestGateway({}, policy, audit));
  const parts = stack.move();
  return {
    file,
    revision: policy.current().revision,
    lines: () =>
      (readFileSync(file, "utf8").trim() || "[]")
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    send: (path: string, token: string | undefined, init: RequestInit = {}) =>
      fetch(`${gateway.url}${path}`, {
        ...init,
        headers: {
          "content-type": "application/json",
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...init.headers,
        },
      }),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

test("each call that is refused at the gateway leaves a line before its answer, by either door; one that reaches a service has that one's line only", async () => {
  using folder = temporaryFolder();
  await using door = await startAudited(folder.path);
  const { send, lines, revision } = door;
  for (let i = 0; i < 5; i++) {
    expect((await send("/v1/tools/who/invoke", "alice-token", { method: "POST", body: '{"pin":"4711"}' })).status).toBe(
      403,
    );
    expect(lines()).toHaveLength(i + 1);
  }
  const denied = {
    service: "gateway",
    caller: "alice",
    tool: "who",
    decision: "denied",
    policy: revision,
    outcome: "denied",
  };
  expect(lines()).toMatchObject(
    Array.from({ length: 5 }, () => ({ ...denied, arguments: createAuditKey(KEY).hash('{"pin":"4711"}') })),
  );

  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "who", arguments: {} } };
  await send("/mcp", "alice-token", {
    method: "POST",
    body: JSON.stringify(call),
    headers: { accept: "application/json, text/event-stream" },
  });
  await send("/v1/tools/who/invoke", "alice-token", {
    method: "POST",
    body: "{}",
    headers: { accept: "text/event-stream" },
  }).then((it) => it.text());
  expect((await send("/v1/tools/echo/invoke", "alice-token", { method: "POST", body: "no JSON" })).status).toBe(400);
  expect((await send("/v1/tools/echo/invoke", "alice-token", { method: "POST", body: "{}" })).status).toBe(200);
  expect(lines().slice(5)).toMatchObject([
    denied,
    denied,
    { service: "gateway", caller: "alice", tool: "echo", decision: "none", outcome: "invalid_arguments" },
    { service: "test-tools", caller: "alice", tool: "echo", outcome: "ok" },
  ]);
  expect(await verifyAudit([door.file])).toMatchObject({ faults: [], head: { seq: 9 } });
});

test("wrong tokens leave their trace, by address and never themselves; a flood of them one line and then its number", async () => {
  using folder = temporaryFolder();
  const door = await startAudited(folder.path);
  const { file, send, lines } = door;
  expect((await send("/v1/tools", WRONG)).status).toBe(401);
  const first = { event: "refused", service: "gateway", address: "127.0.0.1", outcome: "unauthorized", count: 1 };
  await expect.poll(() => lines()).toMatchObject([first]);
  const paths = ["/v1/tools", "/mcp", "/operator/calls", "/openapi.json"];
  for (let i = 0; i < 100; i++)
    await Promise.all(paths.map((path, at) => send(path, at === 3 ? undefined : `${WRONG}${i}`)));
  await send("/v1/tools", "alice-token", { headers: { origin: "https://elsewhere.example" } });
  await expect.poll(() => lines()).toMatchObject([first, { ...first, outcome: "denied" }]);
  await door[Symbol.asyncDispose]();

  expect(lines()).toMatchObject([first, { outcome: "denied", count: 1 }, { ...first, count: 400 }]);
  expect(readFileSync(file, "utf8")).not.toContain(WRONG);
  expect(await verifyAudit([file])).toMatchObject({ faults: [], head: { seq: 3 } });
});

/** What a log of refusals writes, with a while that ends when the log does. */
async function written(refuse: (log: RefusalLog) => void | Promise<void>) {
  const records: Parameters<AuditLog["write"]>[0][] = [];
  const audit = {
    isWriting: true,
    write: async (record: (typeof records)[number]) => void records.push(record),
    async [Symbol.asyncDispose]() {},
  };
  {
    using log = new RefusalLog({ audit, log: silentLogger, everyMs: 1_000_000 });
    await refuse(log);
  }
  return records;
}

const unauthorized = new ToolError("unauthorized", "No");

test("floods from any number of addresses are a bounded number of lines, in which each request is counted", async () => {
  const records = await written((log) => {
    for (let i = 0; i < 100_000; i++) log.request(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, unauthorized);
    for (let i = 0; i < 10_000; i++) log.request(`2001:db8::${i.toString(16)}`, unauthorized);
  });
  expect(records.length).toBeLessThan(50);
  expect(records.reduce((sum, record) => sum + ("count" in record ? record.count : 0), 0)).toBe(110_000);
});

test("one client of IPv6 has one address, however many it uses", async () => {
  const records = await written((log) => {
    for (const address of [
      "2001:db8:1:2:3::1",
      "2001:db8:1:2:ffff:ffff:ffff:ffff",
      "2001:db8:1:2::",
      "fe80::1%eth0",
      "::1",
      "::ffff:192.0.2.1",
      undefined,
    ])
      log.request(address, unauthorized);
  });
  expect(new Set(records.map((record) => "count" in record && record.address))).toEqual(
    new Set(["2001:db8:1:2::/64", "fe80:0:0:0::/64", "0:0:0:0::/64", "192.0.2.1", "this machine"]),
  );
});

test("a caller's refused calls have lines of their own up to a bound, and are counted beyond", async () => {
  const call = { toolName: "t", args: {}, error: new ToolError("denied", "No"), receivedAt: 0 };
  const records = await written(async (log) => {
    for (let i = 0; i < 1_000; i++) await log.call({ ...call, caller: "a", toolCallId: String(i) });
    await log.call({ ...call, caller: "b", toolCallId: "b" });
  });
  expect(records).toHaveLength(62);
  expect(records.slice(59)).toMatchObject([
    { toolCallId: "59" },
    { toolCallId: "b" },
    { event: "refused", caller: "a", outcome: "denied", count: 940 },
  ]);
});
