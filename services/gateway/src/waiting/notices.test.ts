import { createHmac, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { silentLogger } from "@rockbot/bus";
import { Keep } from "@rockbot/contracts";
import { connectRedisLeaseStore } from "@rockbot/records/leases/redis";
import { sharedRedisUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { Notices } from "./notices.ts";
import { startWaiting } from "./test-waiting.ts";

interface Got {
  readonly id: string;
  readonly text: string;
  readonly body: { readonly type: string; readonly data: Readonly<Record<string, string>> };
}

/** A receiver that verifies what it gets, and answers as the test says. */
async function startReceiver(statusOf: (posts: number) => number = () => 200) {
  const key = randomBytes(32);
  const got: Got[] = [];
  const forged: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const { "webhook-id": id = "", "webhook-timestamp": at = "", "webhook-signature": signature } = request.headers;
    const expected = `v1,${createHmac("sha256", key).update(`${id}.${at}.${body}`).digest("base64")}`;
    if (signature !== expected) forged.push(body);
    got.push({ id: String(id), text: body, body: JSON.parse(body) as Got["body"] });
    response.writeHead(statusOf(got.length), { location: "/elsewhere" }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/rockbot`;
  return {
    got,
    forged,
    setting: `${url} whsec_${key.toString("base64")}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test("receivers are told what waits and what has ended, signed by a key of each, and nothing of what was asked or answered", async () => {
  await using first = await startReceiver((posts) => (posts === 1 ? 503 : 200));
  await using second = await startReceiver();
  await using waiting = await startWaiting({ webhooks: [first.setting, second.setting] });
  const call = waiting.caller.call("send", { to: "bob@secret.example" }, { keep: Keep.IfParked, timeoutMs: 30_000 });
  const one = await waiting.one();
  await expect.poll(() => first.got.length, { timeout: 20_000 }).toBe(2);
  expect(first.got[0]).toEqual(first.got[1]); // once more, under the same id, as the first had failed
  await waiting.decide("ann", one, "approve", { note: "my-note" });
  await call;

  const ofCall = { id: one.id, callId: one.toolCallId, tool: "send" };
  for (const { got, forged } of [first, second]) {
    await expect.poll(() => got.at(-1)?.body.type, { timeout: 20_000 }).toBe("call.ended");
    expect(got[0]?.body).toMatchObject({
      type: "call.needs_approval",
      data: { ...ofCall, state: "waiting", link: `${waiting.url}/console/waiting/${one.id}` },
    });
    expect(got.at(-1)?.body.data).toEqual({
      ...ofCall,
      state: "ended",
      code: "ok",
      link: `${waiting.url}/console/calls/${one.toolCallId}`,
    });
    expect(JSON.stringify(got)).not.toMatch(/secret\.example|my-note/);
    expect(forged).toEqual([]);
  }
});

test("of several gateways one tells, and a later one knows what was told, and tells what has ended meanwhile", async () => {
  await using receiver = await startReceiver();
  await using waiting = await startWaiting();
  await using leases = await connectRedisLeaseStore(await sharedRedisUrl(), { prefix: randomBytes(6).toString("hex") });
  const start = () =>
    new Notices({
      runs: waiting.runs,
      services: async () => ["mail"],
      leases,
      receivers: [receiver.setting],
      publicUrl: "https://gateway.example",
      log: silentLogger,
    });
  void waiting.caller.call("send", {}, { keep: Keep.IfParked, timeoutMs: 30_000 }).catch(() => {});
  const one = await waiting.one();
  {
    await using _first = start();
    await using _second = start();
    await expect.poll(() => receiver.got.length, { timeout: 20_000 }).toBe(1);
  }
  await waiting.decide("ann", one, "reject");
  await using _later = start();
  await expect.poll(() => receiver.got.length, { timeout: 20_000 }).toBeGreaterThan(1);
  expect(receiver.got.map(({ body }) => [body.type, body.data["code"]])).toEqual([
    ["call.needs_approval", undefined],
    ["call.ended", "denied"],
  ]);
});

test("a notice that its receiver refuses or sends elsewhere is given up, and operators see that", async () => {
  await using receiver = await startReceiver(() => 307);
  await using waiting = await startWaiting({ webhooks: [receiver.setting] });
  void waiting.caller.call("send", {}, { keep: Keep.IfParked, timeoutMs: 30_000 }).catch(() => {});
  const problems = async () => (await waiting.ask("GET", "/operator/overview", "ops")).text;
  await expect
    .poll(problems, { timeout: 20_000 })
    .toContain("Notices about calls that wait or have ended do not arrive");
  expect(receiver.got).toHaveLength(1);
});
