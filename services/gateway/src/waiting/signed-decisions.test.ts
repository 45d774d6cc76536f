import { createHash, sign } from "node:crypto";
import type { WaitingCall } from "@rockbot/console/api";
import { expect, test } from "vitest";
import { startWaiting, systemKeys } from "./test-waiting.ts";

type Waiting = Awaited<ReturnType<typeof startWaiting>>;

interface Asked {
  readonly method?: string;
  readonly as?: string;
  readonly key?: keyof typeof systemKeys;
  readonly id?: string;
  /** The time of the signature, in seconds from now. */
  readonly at?: number;
  readonly body?: object;
  /** Sent in the place of what was signed. */
  readonly sent?: { readonly path?: string; readonly body?: object };
}

/** Sends a request as an approver's system does. */
async function sendSigned({ send }: Waiting, path: string, asked: Asked) {
  const { method = "GET", as = "ann", key = "ann", id = crypto.randomUUID(), at = 0, body, sent = {} } = asked;
  const text = body === undefined ? "" : JSON.stringify(body);
  const timestamp = String(Math.floor(Date.now() / 1_000) + at);
  const digest = `sha-256=:${createHash("sha256").update(text).digest("base64")}:`;
  const signed = Buffer.from(`${id}.${timestamp}.${method} ${path} ${digest}`);
  const headers = {
    "content-digest": digest,
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-operator": as,
    "webhook-signature": `v1a,${sign(null, signed, systemKeys[key].privateKey).toString("base64")}`,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
  };
  const answer = await send(
    { method, path: sent.path ?? path, headers },
    sent.body === undefined ? text || undefined : JSON.stringify(sent.body),
  );
  return { status: answer.status, json: answer.json as Record<string, unknown> };
}

const pathOf = ({ id }: WaitingCall): string => `/operator/waiting/${id}`;
const approve = ({ shown }: WaitingCall) => ({ method: "POST", body: { verdict: "approve", shown } });

test("a system reads a call and decides for its approver, each time by a signature of its own", async () => {
  await using waiting = await startWaiting();
  const call = waiting.caller.call("send", { to: "bob" }, { timeoutMs: 20_000 });
  const path = pathOf(await waiting.one());
  const read = (await sendSigned(waiting, path, {})).json as unknown as WaitingCall;
  expect(read).toMatchObject({ tool: "send", arguments: '{"to":"bob"}', mayDecide: true });
  expect(await sendSigned(waiting, path, approve(read))).toMatchObject({ status: 200, json: { state: "ready" } });
  expect((await call).content).toContain("send");
});

test("nothing else is a signature: each is refused, and nothing is decided", async () => {
  await using waiting = await startWaiting();
  void waiting.caller.call("pay", {}, { timeoutMs: 20_000 }).catch(() => {});
  const one = await waiting.one();
  const path = pathOf(one);
  const good = approve(one);
  const refused = async (asked: Asked, at = path) => (await sendSigned(waiting, at, asked)).status;
  expect({
    old: await refused({ ...good, at: -301 }),
    early: await refused({ ...good, at: 301 }),
    wrongKey: await refused({ ...good, key: "bob" }),
    otherApprover: await refused({ ...good, as: "bob" }),
    unknown: await refused({ ...good, as: "nobody" }),
    withoutKeys: await refused({ ...good, as: "eve" }),
    otherBody: await refused({ ...good, sent: { body: { verdict: "reject", shown: one.shown } } }),
    otherPath: await refused({ ...good, sent: { path: `${path}0` } }),
    list: await refused({}, "/operator/waiting"),
    answer: await refused({ method: "POST", body: { hash: "h", value: 1 } }, `${path}/answer`),
    policy: await refused({}, "/operator/policy"),
  }).toEqual(
    Object.fromEntries(
      "old early wrongKey otherApprover unknown withoutKeys otherBody otherPath list answer policy"
        .split(" ")
        .map((name) => [name, 401]),
    ),
  );
  const { status } = await sendSigned(waiting, path, { ...good, body: { verdict: "approve", shown: "of another" } });
  expect(status).toBe(409); // what was read is not what waits
  const once = { ...good, id: "once" };
  expect(await refused(once)).toBe(200);
  expect(await sendSigned(waiting, path, once)).toMatchObject({
    status: 401,
    json: { message: expect.stringContaining("has come before") },
  });
  expect((await waiting.one()).decisions).toMatchObject([{ operator: "ann", verdict: "approve" }]);
  expect(waiting.done).toEqual([]);
});

test("a system does not decide about a call that its approver has made, nor for one who is not asked", async () => {
  await using waiting = await startWaiting();
  const asAda = { method: "POST", path: "/operator/tools/send/invoke?as=ada" };
  const headers = { authorization: "Bearer bob", "content-type": "application/json", "rockbot-timeout-ms": "20000" };
  void waiting.send({ ...asAda, headers }, "{}").catch(() => {});
  const one = await waiting.one();
  const decided = await sendSigned(waiting, pathOf(one), { ...approve(one), as: "bob", key: "bob" });
  expect(decided).toMatchObject({ status: 403, json: { message: expect.stringContaining('"bob" made this call') } });
});
