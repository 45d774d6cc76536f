import { createHash } from "node:crypto";
import { createMemoryBus } from "@rockbot/bus";
import { createPolicy, holdPolicy, openPolicy, readPolicy } from "@rockbot/policy";
import { temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { serveTestAgent, type TestTurn, twoWords } from "../chat/test-agent.ts";
import { createGatewayApp } from "../gateway-app.ts";
import { serveHttp } from "../http/http-server.ts";
import { startTestGateway } from "../test-gateway.ts";
import { SessionHub } from "./session-hub.ts";
import { openStream } from "./test-stream.ts";

const kinds = (stream: Awaited<ReturnType<typeof openStream>>): string[] =>
  stream.events().map(({ id, event }) => `${id} ${event}`);
const turn = (session: string, content = "Hello?") => ({
  path: "/v1/chat/completions",
  headers: { "rockbot-session": session },
  body: { messages: [{ role: "user", content }] },
});
const TWO_WORDS = ["1 turn_started", "2 text", "3 text", "4 turn_finished"];

test("the steps of a session are events, those that were and those to come", async () => {
  await using gateway = await startTestGateway();
  await using _agent = await serveTestAgent(gateway.bus, twoWords);
  using _first = await openStream({ port: gateway.port, ...turn("s") });
  using stream = await openStream({ port: gateway.port, path: "/v1/sessions/s/events" });
  await expect.poll(() => kinds(stream)).toEqual(TWO_WORDS);
  using _second = await openStream({ port: gateway.port, ...turn("s") });
  await expect.poll(() => kinds(stream)).toHaveLength(8);

  expect(kinds(stream).slice(4)).toEqual(["5 turn_started", "6 text", "7 text", "8 turn_finished"]);
  expect(JSON.parse(stream.events()[1]?.data ?? "")).toEqual({
    sessionId: "s",
    turnId: expect.stringMatching(/^[0-9a-f]{32}$/),
    sequence: 2,
    at: expect.any(String),
    kind: "text",
    text: "Hello",
  });
});

test.each([
  ["Last-Event-ID", "", { "last-event-id": "3" }],
  ["the query", "?after=3", {}],
])("a stream goes on behind the event that %s names", async (_, query, headers) => {
  await using gateway = await startTestGateway();
  await using _agent = await serveTestAgent(gateway.bus, twoWords);
  using _turn = await openStream({ port: gateway.port, ...turn("s") });
  using stream = await openStream({ port: gateway.port, path: `/v1/sessions/s/events${query}`, headers });

  await expect.poll(() => kinds(stream)).toEqual(["4 turn_finished"]);
});

test("an event that the bus has lost is read from the log, in its place", async () => {
  await using gateway = await startTestGateway();
  await using _agent = await serveTestAgent(gateway.bus, async ({ tell }) => {
    for (let i = 0; i < 20; i++) await tell({ kind: "text", text: `${i} ` }, i % 3 === 0);
    return { text: "done" };
  });
  using stream = await openStream({ port: gateway.port, path: "/v1/sessions/s/events" });
  using _turn = await openStream({ port: gateway.port, ...turn("s") });
  await expect.poll(() => stream.events().length).toBe(22);

  expect(stream.events().map(({ id }) => Number(id))).toEqual(Array.from({ length: 22 }, (_, i) => i + 1));
});

test("a session whose count begins anew goes on from one", async () => {
  await using gateway = await startTestGateway();
  await using agent = await serveTestAgent(gateway.bus, twoWords);
  using _first = await openStream({ port: gateway.port, ...turn("s") });
  using stream = await openStream({ port: gateway.port, path: "/v1/sessions/s/events" });
  await expect.poll(() => kinds(stream)).toEqual(TWO_WORDS);
  agent.logOf("gateway", "s").length = 0;
  await new Promise((resolve) => setTimeout(resolve, 5)); // the new events are later
  using _second = await openStream({ port: gateway.port, ...turn("s") });

  await expect.poll(() => kinds(stream)).toEqual([...TWO_WORDS, ...TWO_WORDS]);
});

test("the same session of another caller is another, and its events are nobody else's", async () => {
  const hash = (token: string) => `sha256:${createHash("sha256").update(token).digest("hex")}`;
  const yaml = `
everyone: { allow: ["agent__*"] }
callers: { alice: { tokens: [{ hash: "${hash("alice-token")}" }] }, bob: { tokens: [{ hash: "${hash("bob-token")}" }] }, carol: { tokens: [{ hash: "${hash("carol-token")}" }], deny: ["*"] } }
`;
  await using gateway = await startTestGateway({}, holdPolicy(createPolicy(await readPolicy(yaml, "of the test"))));
  await using agent = await serveTestAgent(gateway.bus, async (turn) => ({ text: turn.caller }));
  const as = (name: string) => ({ authorization: `Bearer ${name}-token` });
  const { path, body, headers } = turn("s");
  using alices = await openStream({ port: gateway.port, path: "/v1/sessions/s/events", headers: as("alice") });
  using bobs = await openStream({ port: gateway.port, path: "/v1/sessions/s/events", headers: as("bob") });
  using _turn = await openStream({ port: gateway.port, path, body, headers: { ...headers, ...as("bob") } });
  await expect.poll(() => kinds(bobs)).toEqual(["1 turn_started", "2 turn_finished"]);

  expect(agent.turns.map(({ caller }) => caller)).toEqual(["bob"]);
  expect(kinds(alices)).toEqual([]);
  using denied = await openStream({ port: gateway.port, path: "/v1/sessions/s/events", headers: as("carol") });
  expect(denied.status).toBe(403);
});

test("a request that names no session, or no event, is refused in words", async () => {
  await using gateway = await startTestGateway();
  await using _agent = await serveTestAgent(gateway.bus, twoWords);
  const get = async (path: string, headers: Record<string, string> = {}) =>
    (await gateway.send({ path, headers })).json?.["message"];

  expect(await get("/v1/sessions/a%20b/events")).toContain("expected 1 to 128 visible ASCII characters");
  expect(await get("/v1/sessions/s/events", { "last-event-id": "x" })).toContain(
    "the header Last-Event-ID: expected the id of an event",
  );
  expect(await get("/v1/sessions/s/events?after=abc")).toContain("after in the query: expected the id of an event");
  expect((await gateway.send({ path: "/v1/sessions/s/events", method: "POST" })).status).toBe(405);
});

test("a silent stream has comments that keep it alive, and ends when its token is nobody's any more", {
  timeout: 30_000,
}, async () => {
  const hash = (token: string) => `sha256:${createHash("sha256").update(token).digest("hex")}`;
  using folder = temporaryFolder();
  const write = (token: string) =>
    folder.write("policy.yaml", `callers: { alice: { allow: ["*"], tokens: [{ hash: "${hash(token)}" }] } }`);
  await using policy = await openPolicy(write("alice-token"));
  await using bus = createMemoryBus();
  await using _agent = await serveTestAgent(bus, twoWords);
  await using caller = await createToolCaller(bus, { agent: "gateway", policy });
  await using sessions = new SessionHub(bus, caller, { policy });
  await using server = await serveHttp(createGatewayApp(caller, { policy, sessions, keepAliveMs: 50 }), {
    host: "127.0.0.1",
    port: 0,
  });
  using stream = await openStream({
    port: server.port,
    path: "/v1/sessions/s/events",
    headers: { authorization: "Bearer alice-token" },
  });
  await expect.poll(() => stream.text()).toContain(": keep-alive\n: keep-alive\n");
  write("a-newer-token");

  await expect.poll(() => stream.isCut(), { timeout: 20_000 }).toBe(true);
});

test("streams of sessions take no place of requests that run", async () => {
  await using gateway = await startTestGateway({ maxConcurrent: 1 });
  await using _agent = await serveTestAgent(gateway.bus, twoWords);
  using streams = new DisposableStack();
  for (let i = 0; i < 3; i++) streams.use(await openStream({ port: gateway.port, path: "/v1/sessions/s/events" }));

  expect((await gateway.send({ path: "/v1/tools" })).status).toBe(200);
});

test("streams end when the gateway stops, and keep nobody waiting", async () => {
  await using gateway = await startTestGateway();
  await using _agent = await serveTestAgent(gateway.bus, twoWords);
  using stream = await openStream({ port: gateway.port, path: "/v1/sessions/s/events" });
  await gateway.gateway[Symbol.asyncDispose]();

  await expect.poll(() => stream.isEnded()).toBe(true);
});

test("a client that reads slower than the agent writes gets each event once, in order", {
  timeout: 20_000,
}, async () => {
  await using gateway = await startTestGateway();
  const texts = 3_000;
  const begin = Promise.withResolvers<void>();
  const write = async ({ tell }: TestTurn) => {
    await begin.promise;
    for (let i = 0; i < texts; i++) await tell({ kind: "text", text: "x".repeat(2_000) });
    return { text: "done" };
  };
  await using _agent = await serveTestAgent(gateway.bus, write);
  const response = await fetch(`${gateway.url}/v1/sessions/s/events`);
  using _turn = await openStream({ port: gateway.port, ...turn("s"), body: { ...turn("s").body, stream: true } });
  begin.resolve();
  const ids: number[] = [];
  let rest = "";
  for await (const chunk of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + chunk).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) ids.push(...(/^id: (\d+)/m.exec(block)?.slice(1).map(Number) ?? []));
    if (ids.at(-1) === texts + 2) break;
  }

  expect(ids).toEqual(Array.from({ length: texts + 2 }, (_, i) => i + 1));
});
