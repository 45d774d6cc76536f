import { readFileSync } from "node:fs";
import { Keep } from "@rockbot/contracts";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { mcpHeaders, message, openSession, postMcp } from "../mcp/test-messages.ts";
import { startTestGateway } from "../test-gateway.ts";
import { startWaiting, WAITING_POLICY } from "./test-waiting.ts";

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
    kind: "approval",
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
  await using alone = await startTestGateway(
    {},
    holdPolicy(createPolicy(await readPolicy(WAITING_POLICY, "policy.yaml"))),
  );
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
  using folder = temporaryFolder();
  const file = `${folder.path}/audit.jsonl`;
  {
    await using mail = await startWaiting({ audit: file });
    void mail.caller.call("send", { to: "bob" }, { toolCallId: "c-1" }).catch(() => {});
    await mail.one("eve"); // sees nothing, so reads nothing
    const one = await mail.one("bob");
    const { problems } = (await mail.ask("GET", "/operator/overview", "bob")).json as {
      problems: { what: string; next: string }[];
    };
    expect(problems).toContainEqual(
      expect.objectContaining({ what: expect.stringMatching(/^1 call waits for an operator, the oldest since 2/) }),
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
  for (const method of ["GET", "DELETE"])
    expect((await mail.ask(method, `/v1/calls/${toolCallId}`, "of-eve")).status).toBe(404);
  expect((await mail.ask("GET", `/v1/calls/${toolCallId}`, "of-ada")).json).toMatchObject({ state: "waiting" });
  expect((await mail.ask("POST", `${path}/cancel`, "ops", {})).status).toBe(204);
  await expect.poll(standing).toMatchObject({ run: { state: "failed", code: "cancelled" } });
  expect(mail.done).toEqual([]);
});

test("no token of a caller reaches approvals, by no door, and no tool decides", async () => {
  await using mail = await startWaiting({ callTimeoutMs: 1_500 });
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
  const token = "of-ada";
  const session = await openSession(mail, { token });
  const rpc = async (method: string, params: object) =>
    (await postMcp(mail, message(2, method, params), mcpHeaders({ token, session }))).text;
  const listed = await rpc("tools/list", {});
  expect(listed).toContain('"send"');
  expect((await mail.ask("GET", "/v1/tools", token)).text + listed).not.toMatch(/waiting|approve|decide/);
  for (const name of ["run.decide", "approve", "operator"])
    expect(await rpc("tools/call", { name, arguments: { id, ...body } })).toMatch(/error/i);
  expect(await rpc("run.decide", { id, ...body })).toMatch(/-32601/);
  // What a model reads of a call that nobody decided about names nothing that it does not have.
  const over = await rpc("tools/call", { name: "send", arguments: {} });
  expect(over).toMatch(/waits for the approval of .*Call it again if it is still wanted/);
  expect(over).not.toMatch(/same id|rockbot approvals|Idempotency/);
  expect(mail.done).toEqual([]);
});

test("a question is listed with its schema, answered once by whoever may decide, and asked again with the faults", async () => {
  using folder = temporaryFolder();
  const file = `${folder.path}/audit.jsonl`;
  {
    await using mail = await startWaiting({ audit: file });
    const call = mail.caller.call("order", { of: "z\u200bero" }, { toolCallId: "c-1" });
    const one = await mail.one("eve");
    expect(one).toMatchObject({ kind: "question", mayDecide: true, asked: [], tool: "order" });
    expect(one.question).toMatchObject({
      message: "How many of z\u200bero?",
      schema: { required: ["count"] },
      origin: "mcp:shop",
    });
    expect([one.arguments, one.shown]).toEqual([undefined, undefined]);
    expect((await mail.one("sue")).arguments).toContain("z\u200bero");
    expect(await mail.answer("eve", one, { count: 1_000 })).toEqual([200, "ready"]);
    await expect.poll(async () => (await mail.waiting("eve")).calls[0]?.question?.faults).toBeDefined();
    const again = await mail.one("eve");
    expect(await mail.answer("eve", again, { count: 3 }, { hash: "other" })).toEqual([
      409,
      expect.stringContaining("asks another question"),
    ]);
    expect(await mail.decide("ann", { ...again, shown: "x" }, "approve")).toEqual([
      409,
      expect.stringContaining("waits for an answer"),
    ]);
    for (const more of [{ hash: 1 }, { value: undefined }, { code: 1 }])
      expect((await mail.answer("eve", again, 3, more))[0]).toBe(400);
    expect((await mail.ask("POST", `/operator/waiting/${again.id}/answer`, "ops", {})).status).toBe(403);
    expect(await mail.answer("eve", again, { count: 3 })).toEqual([200, "ready"]);
    expect(await call).toMatchObject({ content: "ordered 3" });
    expect((await mail.answer("eve", again, { count: 4 }))[0]).toBe(404);
    expect(mail.done).toEqual(["order"]);
  }
  expect(readFileSync(file, "utf8")).toMatch(/"operator":"eve","action":"run\.answer","outcome":"ok","of":"c-1"/);
});

test("the operator of the process answers by the code, too, and an approval is not answered", async () => {
  await using mail = await startWaiting();
  const { token, decisionCode } = mail.localOperator;
  const code = decisionCode.show();
  const call = mail.caller.call("order", {});
  const one = await mail.one(token);
  expect(await mail.answer(token, one, { count: 1 })).toEqual([403, expect.stringContaining("without the code")]);
  expect(await mail.answer(token, one, { count: 1 }, { code })).toEqual([200, "ready"]);
  await call;
  void mail.caller.call("send", {}).catch(() => {});
  const approval = await mail.one();
  expect(await mail.answer("ann", { ...approval, question: { hash: "x", message: "", schema: {} } }, 1)).toEqual([
    409,
    expect.stringContaining("waits for a decision"),
  ]);
});

test("a brief list leaves arguments out, and is no reading of them", async () => {
  using folder = temporaryFolder();
  const file = `${folder.path}/audit.jsonl`;
  {
    await using mail = await startWaiting({ audit: file });
    void mail.caller.call("send", { to: "bob" }).catch(() => {});
    await mail.one("eve"); // sees nothing, so reads nothing
    const { json } = await mail.ask("GET", "/operator/waiting?brief=true", "ann");
    expect(json).toMatchObject({ calls: [{ tool: "send", mayDecide: true }] });
    expect(JSON.stringify(json)).not.toMatch(/"arguments"|"shown"/);
  }
  expect(readFileSync(file, "utf8")).not.toContain('"operator"');
});
