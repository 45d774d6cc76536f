import { createHash } from "node:crypto";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { defineTool } from "@rockbot/tools";
import { expect, test } from "vitest";
import { loose, serveOne, startTestGateway } from "../test-gateway.ts";
import { initialize, listen, mcpHeaders, message, modernHeaders, openSession, postMcp } from "./test-messages.ts";

const PATIENCE = { timeout: 30_000 };
const alice = { token: "alice-token" };
const bob = { token: "bob-token" };

async function policyOfTwo() {
  const tokens = (name: string) =>
    `{ allow: ["*"], tokens: [{ hash: "sha256:${createHash("sha256").update(`${name}-token`).digest("hex")}" }] }`;
  return holdPolicy(
    createPolicy(await readPolicy(`callers: { alice: ${tokens("alice")}, bob: ${tokens("bob")} }`, "of the test")),
  );
}

/** A request whose answer is left open, and not read. Resolves with its status. */
async function leaveOpen(port: number, method: "GET" | "POST", headers: Record<string, string>, body?: object) {
  const { promise, resolve, reject } = Promise.withResolvers<{
    readonly request: ClientRequest;
    readonly response: IncomingMessage;
  }>();
  const request = httpRequest({ host: "127.0.0.1", port, path: "/mcp", method, headers, agent: false }, (response) =>
    resolve({ request, response }),
  );
  request.on("error", reject);
  request.end(body === undefined ? undefined : JSON.stringify(body));
  return await promise;
}

test("a client that opens session after session keeps 64, and takes none of another's", {
  timeout: 60_000,
}, async () => {
  await using gateway = await startTestGateway({}, await policyOfTwo());
  const others = await openSession(gateway, bob);
  const sessions: string[] = [];
  for (let opened = 0; opened < 100; opened++) sessions.push(await openSession(gateway, alice));

  expect(gateway.gateway.mcpLoad.sessions).toBe(65);
  const ping = async (token: string, session: string | undefined) =>
    (await postMcp(gateway, message(2, "ping"), mcpHeaders({ token, session }))).status;
  expect([
    await ping(bob.token, others),
    await ping(alice.token, sessions.at(-1)),
    await ping(alice.token, sessions[0]),
  ]).toEqual([200, 200, 404]);
});

test("sessions in which calls run are kept, and one more is refused until one ends", { timeout: 60_000 }, async () => {
  await using gateway = await startTestGateway();
  const running: ClientRequest[] = [];
  for (let id = 0; id < 64; id++) {
    const headers = mcpHeaders({ session: await openSession(gateway) });
    running.push(
      (await leaveOpen(gateway.port, "POST", headers, message(2, "tools/call", { name: "wait", arguments: { id } })))
        .request,
    );
  }
  const refused = await postMcp(gateway, initialize);
  expect([refused.status, refused.json?.["code"], refused.headers["retry-after"]]).toEqual([503, "overloaded", "1"]);

  for (const request of running) request.destroy();
  await expect.poll(async () => (await postMcp(gateway, initialize)).status, PATIENCE).toBe(200);
});

test("in the newer era an argument and the header that stands for it are the same, or nothing is called", async () => {
  await using gateway = await startTestGateway();
  const schema = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } };
  const called: unknown[] = [];
  const regional = defineTool(loose("regional", schema), async (input) => `call ${called.push(input)}`);
  await using _regional = await serveOne(gateway.bus, regional);
  const { _meta } = (listen(1) as { readonly params: { readonly _meta: object } }).params;
  const call = (args: object, region?: string) =>
    postMcp(gateway, message(2, "tools/call", { name: "regional", arguments: args, _meta }), {
      ...modernHeaders("tools/call"),
      "mcp-name": "regional",
      "mcp-param-region": region,
    });

  for (const refused of [await call({ region: "eu" }), await call({ region: "eu" }, "us")])
    expect([refused.status, refused.json]).toMatchObject([400, { error: { code: -32_020 } }]);
  expect(called).toEqual([]);
  expect([(await call({ region: "eu" }, "eu")).status, (await call({})).status, called.length]).toEqual([200, 200, 2]);
});

test("streams of changes that are dropped without a word leave nothing, in either era", {
  timeout: 60_000,
}, async () => {
  await using gateway = await startTestGateway();
  const load = () => gateway.gateway.mcpLoad;
  const open: ClientRequest[] = [];
  for (let id = 0; id < 30; id++) {
    open.push((await leaveOpen(gateway.port, "GET", mcpHeaders({ session: await openSession(gateway) }))).request);
    open.push((await leaveOpen(gateway.port, "POST", modernHeaders("subscriptions/listen"), listen(id))).request);
  }
  expect(load()).toEqual({ sessions: 30, listeners: 60 });
  for (const request of open) request.destroy();
  await expect.poll(load, PATIENCE).toEqual({ sessions: 30, listeners: 0 });
});

test("streams of changes are bounded for each caller, and take no place of a request", {
  timeout: 60_000,
}, async () => {
  await using gateway = await startTestGateway({ maxConcurrent: 2 }, await policyOfTwo());
  const statuses: (number | undefined)[] = [];
  const open: ClientRequest[] = [];
  for (let id = 0; id < 66; id++) {
    const { request, response } = await leaveOpen(
      gateway.port,
      "POST",
      modernHeaders("subscriptions/listen", alice),
      listen(id),
    );
    statuses.push(response.statusCode);
    open.push(request);
  }
  const ofBob = await leaveOpen(gateway.port, "POST", modernHeaders("subscriptions/listen", bob), listen(1));

  expect(statuses).toEqual([...Array.from({ length: 64 }, () => 200), 503, 503]);
  expect([ofBob.response.statusCode, gateway.gateway.mcpLoad.listeners]).toEqual([200, 65]);
  expect((await postMcp(gateway, message(3, "ping"), mcpHeaders(alice))).status).toBe(200);
  for (const request of [...open, ofBob.request]) request.destroy();
});

test("a request that only says that it listens is refused", async () => {
  await using gateway = await startTestGateway();
  const { _meta } = (listen(1) as { params: { _meta: object } }).params;
  const call = message(1, "tools/call", { name: "wait", arguments: {}, _meta });
  const answer = await postMcp(gateway, call, modernHeaders("subscriptions/listen"));

  expect([answer.status, gateway.waiting]).toEqual([400, []]);
});

test("a session has one stream of changes: a new one takes the place of one whose client may be gone", async () => {
  await using gateway = await startTestGateway();
  const headers = mcpHeaders({ session: await openSession(gateway) });
  const first = await leaveOpen(gateway.port, "GET", headers);
  const ended = new Promise((resolve) => first.response.resume().once("end", resolve));
  const second = await leaveOpen(gateway.port, "GET", headers);

  await ended;
  expect([second.response.statusCode, gateway.gateway.mcpLoad]).toEqual([200, { sessions: 1, listeners: 1 }]);
  second.request.destroy();
});

test("a session that its client ends takes its calls and its stream with it", async () => {
  await using gateway = await startTestGateway();
  const headers = mcpHeaders({ session: await openSession(gateway) });
  const stream = await leaveOpen(gateway.port, "GET", headers);
  const ended = new Promise((resolve) => stream.response.resume().once("end", resolve));
  await leaveOpen(gateway.port, "POST", headers, message(2, "tools/call", { name: "wait", arguments: { id: "d" } }));
  await expect.poll(() => gateway.waiting, PATIENCE).toEqual(["d"]);

  expect((await gateway.send({ path: "/mcp", method: "DELETE", headers })).status).toBe(200);
  await ended;
  await expect.poll(() => gateway.aborted, PATIENCE).toEqual(["d"]);
  expect(gateway.gateway.mcpLoad).toEqual({ sessions: 0, listeners: 0 });
  expect((await postMcp(gateway, message(3, "ping"), headers)).status).toBe(404);
});

test("a gateway that stops ends the streams of changes at once, and lets calls finish", {
  timeout: 60_000,
}, async () => {
  await using gateway = await startTestGateway({ shutdownGraceMs: 1_200_000 });
  const headers = mcpHeaders({ session: await openSession(gateway) });
  const streams = [
    await leaveOpen(gateway.port, "GET", headers),
    await leaveOpen(gateway.port, "POST", modernHeaders("subscriptions/listen"), listen(1)),
  ];
  const ends = streams.map(({ response }) => new Promise((resolve) => response.resume().once("close", resolve)));
  const call = postMcp(gateway, message(2, "tools/call", { name: "soon", arguments: { ms: 500 } }), headers);
  await expect.poll(() => gateway.waiting, PATIENCE).toEqual(["soon"]);
  const stopped = gateway.gateway[Symbol.asyncDispose]();

  await Promise.all(ends);
  expect((await call).text).toContain('"text":"done"');
  await stopped;
});
