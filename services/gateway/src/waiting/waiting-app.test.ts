import { createHash, createPublicKey, generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WaitingCall, WaitingCalls } from "@rockbot/console/api";
import { Keep } from "@rockbot/contracts";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { openAuditLog } from "@rockbot/records/audit";
import { openSqliteRunStore } from "@rockbot/runs";
import { createToolCaller, defineTool, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { createLocalOperator } from "../operators/local-operator.ts";
import { loose, startTestGateway } from "../test-gateway.ts";

const { privateKey } = generateKeyPairSync("ed25519");
const hash = (token: string): string => `sha256:${createHash("sha256").update(token).digest("hex")}`;
const operator = (name: string, may: string, more = "") =>
  `  - { name: ${name}, tokens: [{ hash: "${hash(name)}" }], may: [${may}]${more} }`;
const POLICY = `
callers: { ada: { allow: ["*"], tokens: [{ hash: "${hash("of-ada")}" }] } }
operators:
${operator("ann", "decide")}
${operator("bob", "read, decide, call", ', speaksFor: ["*"]')}
${operator("eve", "decide")}
${operator("sue", "decide", ", sees: [arguments]")}
${operator("ops", "read, letters, servers, cancel, call", ', speaksFor: ["*"]')}
  - { name: local, tokens: [], may: [decide] }
approve:
  - { tools: [send], by: [ann, bob, local] }
  - { tools: [pay], by: [ann, bob], needed: 2 }
`;

/** A gateway beside a service whose tools "send" and "pay" need approvals. */
async function startWaiting({
  hasKey = true,
  serves = true,
  audit,
}: {
  hasKey?: boolean;
  serves?: boolean;
  audit?: string;
} = {}) {
  const stack = new AsyncDisposableStack();
  const policy = holdPolicy(createPolicy(await readPolicy(POLICY, "policy.yaml")));
  const log = audit === undefined ? undefined : stack.use(await openAuditLog(audit, { key: "k".repeat(32) }));
  const runs = stack.use(await openSqliteRunStore(undefined));
  const localOperator = createLocalOperator();
  const commandKey = hasKey ? privateKey : undefined;
  const gateway = stack.use(await startTestGateway({}, policy, log, { runs, localOperator, commandKey }));
  const done: string[] = [];
  const tool = (name: string) =>
    defineTool(loose(name), async (input) => {
      done.push(name);
      return `${name} ${JSON.stringify(input)}`;
    });
  const serve = () =>
    serveTools(
      gateway.bus,
      { tools: [tool("send"), tool("pay")], guides: [] },
      { service: "mail", policy, runs, operatorKey: createPublicKey(privateKey), audit: log, drainMs: 1 },
    );
  const service = stack.use(await serve());
  const caller = stack.use(await createToolCaller(gateway.bus, { agent: "ada" }));
  await caller.discovered();
  const ask = (method: string, path: string, token: string, body?: object) =>
    gateway.send(
      { method, path, headers: { authorization: `Bearer ${token}`, "content-type": "application/json" } },
      body && JSON.stringify(body),
    );
  const waiting = async (by = "ann") => (await ask("GET", "/operator/waiting", by)).json as unknown as WaitingCalls;
  if (!serves) await service[Symbol.asyncDispose]();
  return Object.assign(gateway, {
    ask,
    waiting,
    caller,
    done,
    localOperator,
    service,
    /** The one call that waits, once it does. */
    one: async (by = "ann"): Promise<WaitingCall> => {
      await expect.poll(async () => (await waiting(by)).calls.length).toBe(1);
      return (await waiting(by)).calls[0] as WaitingCall;
    },
    decide: async (by: string, { id, shown }: WaitingCall, verdict: string, more: object = {}) => {
      const { status, json } = await ask("POST", `/operator/waiting/${id}`, by, { verdict, shown, ...more });
      return [status, json?.["state"] ?? json?.["message"]];
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  });
}

test("an operator who is asked sees what waits, and approves exactly that; then it runs once", async () => {
  await using mail = await startWaiting();
  const call = mail.caller.call("send", { to: "bob\u202e", text: "z\u200bero" });
  const one = await mail.one();
  expect(one).toEqual({
    id: expect.any(String),
    service: "mail",
    caller: "ada",
    toolCallId: expect.any(String),
    tool: "send",
    given: { bytes: expect.any(Number), hash: expect.any(String) },
    arguments: '{"text":"z\u200bero","to":"bob\u202e"}',
    visible: '{"text":"z\\u200bero","to":"bob\\u202e"}',
    shown: expect.any(String),
    asked: [{ by: ["ann", "bob", "local"], needed: 1 }],
    decisions: [],
    createdAt: expect.any(Number),
    expiresAt: one.createdAt + 24 * 3_600_000,
    isKept: false,
    hasReadUntrusted: false,
    mayDecide: true,
  });
  expect((await mail.ask("GET", `/operator/waiting/${one.id}`, "ann")).json).toEqual(one);
  expect(await mail.decide("ann", { ...one, shown: "other" }, "approve")).toEqual([
    409,
    expect.stringContaining("Read it again"),
  ]);
  expect(mail.done).toEqual([]);
  expect(await mail.decide("ann", one, "approve")).toEqual([200, "ready"]);
  expect(await call).toMatchObject({ content: expect.stringContaining("send") });
  expect(await mail.decide("bob", one, "approve")).toEqual([404, expect.stringMatching(/call of this id that waits/)]);
  expect(mail.done).toEqual(["send"]);
});

test("two have to approve where the policy asks for two, and one who rejects ends the call with a note", async () => {
  await using mail = await startWaiting();
  const paid = mail.caller.call("pay", {});
  const one = await mail.one();
  expect(await mail.decide("ann", one, "approve", { note: "fine" })).toEqual([200, "parked"]);
  const again = await mail.one();
  expect(again.decisions).toEqual([{ operator: "ann", verdict: "approve", at: expect.any(Number), note: "fine" }]);
  expect(again.mayDecide).toMatch(/"ann" has decided already/);
  expect(await mail.decide("ann", again, "approve")).toEqual([403, expect.stringContaining("has decided already")]);
  expect(await mail.decide("bob", again, "approve")).toEqual([200, "ready"]);
  await paid;
  const call = mail.caller.call("pay", {}).catch((error: unknown) => error);
  expect(await mail.decide("bob", await mail.one(), "reject", { note: "too much" })).toEqual([200, "ended"]);
  expect(await call).toMatchObject({ code: "denied", message: expect.stringContaining("They say: too much") });
  expect(mail.done).toEqual(["pay"]);
});

test("who is not asked decides nothing, and sees arguments only by its sight", async () => {
  await using mail = await startWaiting();
  void mail.caller.call("send", { secret: 1 }).catch(() => {});
  const own = await mail.one();
  const { arguments: _, shown: __, ...digest } = own;
  const why = expect.stringContaining("the policy asks ann or bob or local, and not");
  expect(await mail.one("eve")).toEqual({ ...digest, mayDecide: why });
  expect(await mail.one("sue")).toEqual({ ...own, mayDecide: why });
  for (const by of ["eve", "sue"]) expect(await mail.decide(by, own, "approve")).toEqual([403, why]);
  expect((await mail.ask("GET", "/operator/waiting", "ops")).status).toBe(403);
  for (const more of [{ verdict: "maybe" }, { note: "x".repeat(2_001) }, { note: 1 }, { shown: 1 }])
    expect(await mail.decide("ann", own, "approve", more)).toEqual([400, expect.stringContaining("Cannot decide: ")]);
  expect(mail.done).toEqual([]);
});

test("an operator who made a call as its caller does not decide about it", async () => {
  await using mail = await startWaiting();
  void mail.ask("POST", "/operator/tools/send/invoke?as=ada", "bob", {});
  const one = await mail.one("bob");
  expect(one).toMatchObject({ operator: "bob", mayDecide: expect.stringContaining('"bob" made this call') });
  expect(await mail.decide("bob", one, "approve")).toEqual([403, expect.stringContaining("made this call")]);
  expect(await mail.decide("ann", one, "approve")).toEqual([200, "ready"]);
});

test("without a key, or a service that runs, it is said what is missing", async () => {
  {
    await using mail = await startWaiting({ hasKey: false });
    void mail.caller.call("send", {}).catch(() => {});
    const one = await mail.one();
    expect(one.mayDecide).toMatch(/Set OPERATOR_KEY/);
    expect(await mail.decide("ann", one, "approve")).toEqual([403, expect.stringContaining("Set OPERATOR_KEY")]);
  }
  await using mail = await startWaiting();
  void mail.caller.call("send", {}, { keep: Keep.IfParked, toolCallId: "k" }).catch(() => {});
  const one = await mail.one();
  await mail.service[Symbol.asyncDispose]();
  expect(await mail.decide("ann", one, "approve")).toEqual([503, expect.stringContaining('"mail" does not run now')]);
  await using alone = await startTestGateway({}, holdPolicy(createPolicy(await readPolicy(POLICY, "policy.yaml"))));
  const path = "/operator/waiting";
  const { json } = await alone.send({ path, headers: { authorization: "Bearer ann" } });
  expect(json).toEqual({
    calls: [],
    more: false,
    needsCode: false,
    problems: [expect.stringMatching(/Set REDIS_URL/)],
  });
});

test("the operator of the process decides by the code that it has read, and by no other way", async () => {
  await using mail = await startWaiting();
  const { token, decisionCode } = mail.localOperator;
  void mail.caller.call("send", {}).catch(() => {});
  const unshown = await mail.one(token);
  expect(unshown.mayDecide).toMatch(/Start it at a terminal/);
  expect(await mail.decide(token, unshown, "approve", { code: "0000-0000-00" })).toEqual([
    403,
    expect.stringContaining("Start it at a terminal"),
  ]);
  const code = decisionCode.show();
  const one = await mail.one(token);
  expect([one.mayDecide, (await mail.waiting(token)).needsCode]).toEqual([true, true]);
  const missing = await mail.ask("POST", `/operator/waiting/${one.id}`, token, {
    verdict: "approve",
    shown: one.shown,
  });
  expect([missing.status, missing.json]).toEqual([
    403,
    { message: expect.stringContaining("printed at its terminal"), needsCode: true },
  ]);
  expect(await mail.decide(token, one, "approve", { code: "wrong" })).toEqual([
    403,
    expect.stringContaining("not the code"),
  ]);
  expect(await mail.decide(token, one, "approve", { code: code.toLowerCase() })).toEqual([200, "ready"]);
});

test("readings of arguments and decisions have their lines in the audit log, and Now says that calls wait", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "rockbot-waiting-")), "audit.jsonl");
  {
    await using mail = await startWaiting({ audit: file });
    void mail.caller.call("send", { to: "bob" }, { toolCallId: "c-1" }).catch(() => {});
    await mail.one("eve"); // sees nothing, so reads nothing
    const one = await mail.one("bob");
    const { problems } = (await mail.ask("GET", "/operator/overview", "bob")).json as {
      problems: { what: string; next: string }[];
    };
    expect(problems).toContainEqual(
      expect.objectContaining({ what: expect.stringMatching(/^1 call waits? for an approval, the oldest since 2/) }),
    );
    expect(await mail.decide("bob", one, "reject", { note: "not now" })).toEqual([200, "ended"]);
  }
  const lines = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ event }) => event === "operator");
  expect(new Set(lines.map(({ operator: by, action, of }) => `${by} ${action} ${of}`))).toEqual(
    new Set(["bob read arguments calls that wait", "bob run.decide c-1: reject send for ada"]),
  );
  expect(lines.at(-1)).toMatchObject({
    service: "mail",
    note: "not now",
    outcome: "ok",
    arguments: expect.any(String),
  });
});

test("over HTTP a call that waits on is accepted, and its key gets the end; one that does not has timed out", async () => {
  await using mail = await startWaiting();
  const invoke = (headers: Record<string, string>) =>
    mail.invoke("send", { to: "bob" }, { authorization: "Bearer of-ada", ...headers });
  const over = await invoke({ "rockbot-timeout-ms": "500" });
  expect([over.status, over.json]).toEqual([504, expect.objectContaining({ code: "pending" })]);
  const key = { "idempotency-key": "k-1", "rockbot-on-close": "keep" };
  const accepted = await invoke({ ...key, "rockbot-timeout-ms": "500" });
  expect([accepted.status, accepted.json]).toEqual([
    202,
    expect.objectContaining({ code: "pending", details: expect.objectContaining({ isKept: true }) }),
  ]);
  expect(await mail.decide("ann", await mail.one(), "approve")).toEqual([200, "ready"]);
  expect(await invoke(key)).toMatchObject({ status: 200, json: { content: 'send {"to":"bob"}' } });
  expect(mail.done).toEqual(["send"]);
});

test("operators see how a call stands that its caller has left to wait, and may cancel it", async () => {
  await using mail = await startWaiting();
  const headers = { authorization: "Bearer of-ada", "idempotency-key": "k-2", "rockbot-timeout-ms": "300" };
  const { toolCallId } = JSON.parse((await mail.invoke("send", { to: "bob" }, headers)).text) as { toolCallId: string };
  const path = `/operator/calls/${toolCallId}`;
  const standing = async () => ((await mail.ask("GET", path, "ops")).json as { readonly call: object }).call;
  expect(await standing()).toMatchObject({
    code: "pending",
    run: { state: "waiting", waitsFor: expect.stringContaining("ann") },
  });
  expect((await mail.ask("GET", "/operator/calls?tool=send", "ops")).json).toMatchObject({
    calls: [{ run: { state: "waiting" } }],
  });
  expect((await mail.ask("POST", `${path}/cancel`, "ops", {})).status).toBe(204);
  await expect.poll(standing).toMatchObject({ run: { state: "failed", code: "cancelled" } });
  expect(mail.done).toEqual([]);
});

test("no token of a caller reaches approvals, by no door, and no tool decides", async () => {
  await using mail = await startWaiting();
  void mail.caller.call("send", {}).catch(() => {});
  const { id, shown } = await mail.one();
  const body = { verdict: "approve", shown };
  for (const [method, path] of [
    ["GET", "/operator/waiting"],
    ["GET", `/operator/waiting/${id}`],
    ["POST", `/operator/waiting/${id}`],
  ] as const)
    expect((await mail.ask(method, path, "of-ada", method === "POST" ? body : undefined)).status).toBe(401);
  for (const path of [`/v1/waiting/${id}`, `/waiting/${id}`, `/v1/approvals/${id}`, `/v1/tools/run.decide/invoke`])
    expect((await mail.ask("POST", path, "of-ada", body)).status).toBe(404);
  const { json } = await mail.ask("GET", "/openapi.json", "of-ada");
  expect(Object.keys(json?.["paths"] as object).filter((path) => /waiting|approv|decide|operator/.test(path))).toEqual(
    [],
  );
  const rpc = (method: string, params: object) =>
    mail.ask("POST", "/mcp", "of-ada", { jsonrpc: "2.0", id: 1, method, params });
  const tools = JSON.stringify([
    (await mail.ask("GET", "/v1/tools", "of-ada")).json,
    (await rpc("tools/list", {})).text,
  ]);
  expect(tools).not.toMatch(/waiting|approve|decide/);
  expect((await rpc("run.decide", { id, ...body })).text).not.toContain("ready");
  expect(mail.done).toEqual([]);
});
