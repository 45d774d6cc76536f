import { loadConfig } from "@rockbot/process/config";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { startGateway } from "../gateway.ts";
import { openStream } from "../sessions/test-stream.ts";
import { check, configSchema } from "../settings.ts";
import { startTestGateway } from "../test-gateway.ts";
import { serveTestAgent, type TestTurn } from "./test-agent.ts";

/** An agent that writes a word, then waits, then writes another; and says which turns were cancelled. */
async function startWaiting() {
  await using started = new AsyncDisposableStack();
  const gateway = started.use(await startTestGateway());
  const goOn = Promise.withResolvers<void>();
  const cancelled: string[] = [];
  const script = async ({ tell, signal, turnId }: TestTurn) => {
    signal.addEventListener("abort", () => cancelled.push(turnId));
    await tell({ kind: "text", text: "One, " });
    await Promise.race([
      goOn.promise,
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    ]);
    await tell({ kind: "text", text: "two." });
    return { text: "One, two." };
  };
  const agent = started.use(await serveTestAgent(gateway.bus, script));
  const parts = started.move();
  const ask = (headers: Record<string, string>, isStream = true) =>
    openStream({
      port: gateway.port,
      path: "/v1/chat/completions",
      headers,
      body: { messages: [{ role: "user", content: "Count." }], stream: isStream },
    });
  return { gateway, agent, cancelled, ask, goOn: goOn.resolve, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

const textOf = (stream: Awaited<ReturnType<typeof openStream>>): string =>
  stream
    .events()
    .filter(({ data }) => data !== "[DONE]")
    .map(({ data }) => (JSON.parse(data) as OpenAI.ChatCompletionChunk).choices[0]?.delta.content ?? "")
    .join("");

test("a client that goes away from a stream without a session cancels the turn", async () => {
  await using at = await startWaiting();
  {
    using stream = await at.ask({});
    await expect.poll(() => textOf(stream)).toBe("One, ");
  }
  await expect.poll(() => at.cancelled).toHaveLength(1);
});

test("a client that gives up an answer without a session cancels the turn", async () => {
  await using at = await startWaiting();
  const client = new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: "none", maxRetries: 0 });
  const givenUp = new AbortController();
  const asked = client.chat.completions.create(
    { model: "rockbot", messages: [{ role: "user", content: "Count." }] },
    { signal: givenUp.signal },
  );
  await expect.poll(() => at.agent.turns).toHaveLength(1);
  givenUp.abort();

  await expect(asked).rejects.toThrow("aborted");
  await expect.poll(() => at.cancelled).toHaveLength(1);
});

test("in a session the turn goes on, and its stream behind the last event, under the same key", async () => {
  await using at = await startWaiting();
  const headers = { "rockbot-session": "s", "idempotency-key": "k" };
  let last = "";
  {
    using stream = await at.ask(headers);
    await expect.poll(() => textOf(stream)).toBe("One, ");
    last = stream.events().at(-1)?.id ?? "";
  }
  using stream = await at.ask({ ...headers, "last-event-id": last });
  at.goOn();
  await expect.poll(() => stream.isEnded()).toBe(true);

  expect([textOf(stream), stream.events().at(-1)?.data]).toEqual(["two.", "[DONE]"]);
  expect([at.agent.turns.length, at.cancelled]).toEqual([1, []]);
  // The turn has ended: the same again is its answer again.
  using again = await at.ask(headers);
  await expect.poll(() => again.isEnded()).toBe(true);
  expect([textOf(again), at.agent.turns.length]).toEqual(["One, two.", 1]);
});

test("a client comes back to its turn at another gateway, too", async () => {
  await using at = await startWaiting();
  const config = loadConfig(configSchema, { env: {}, overrides: { port: 0, instance: "other" }, check });
  await using other = await startGateway(at.gateway.bus, config);
  const headers = { "rockbot-session": "s", "idempotency-key": "k" };
  let last = "";
  {
    using stream = await at.ask(headers);
    await expect.poll(() => textOf(stream)).toBe("One, ");
    last = stream.events().at(-1)?.id ?? "";
  }
  const body = { messages: [{ role: "user", content: "Count." }], stream: true };
  using stream = await openStream({
    port: Number(new URL(other.url).port),
    path: "/v1/chat/completions",
    headers: { ...headers, "last-event-id": last },
    body,
  });
  at.goOn();
  await expect.poll(() => stream.isEnded()).toBe(true);

  expect([textOf(stream), at.agent.turns.length, at.cancelled]).toEqual(["two.", 1, []]);
});

test("a turn of a session that nobody waits for can be fetched by its id, and cancelled by its client if it wants that", async () => {
  await using at = await startWaiting();
  let id = "";
  {
    using stream = await at.ask({ "rockbot-session": "kept" });
    await expect.poll(() => textOf(stream)).toBe("One, ");
    id = (JSON.parse(stream.events()[0]?.data ?? "") as { id: string }).id.slice("chatcmpl-".length);
  }
  {
    using stream = await at.ask({ "rockbot-session": "cut", "rockbot-on-close": "cancel" });
    await expect.poll(() => textOf(stream)).toBe("One, ");
  }
  await expect.poll(() => at.cancelled).toHaveLength(1);
  expect(at.cancelled).not.toContain(id);
  at.goOn();

  await expect
    .poll(async () => (await at.gateway.send({ path: `/v1/calls/${id}` })).json)
    .toMatchObject({ toolName: "agent__chat", result: { structured: { text: "One, two." } } });
});

test("another request under the key of a running turn is refused, the same one joins it", async () => {
  await using at = await startWaiting();
  const headers = { "rockbot-session": "s", "idempotency-key": "k", "content-type": "application/json" };
  using stream = await at.ask(headers);
  const send = (content: string) =>
    at.gateway.send(
      { path: "/v1/chat/completions", method: "POST", headers },
      JSON.stringify({ messages: [{ role: "user", content }] }),
    );
  const other = await send("Sing.");
  const same = send("Count.");
  at.goOn();

  expect([other.status, (other.json?.["error"] as { code: string } | undefined)?.code]).toEqual([409, "conflict"]);
  expect((await same).json).toMatchObject({ choices: [{ message: { content: "One, two." } }] });
  await expect.poll(() => textOf(stream)).toBe("One, two.");
  expect(at.agent.turns).toHaveLength(1);
});

test("a stream that outlasts the drain time is told so", async () => {
  await using at = await startWaiting();
  await using gateway = await startTestGateway({ shutdownGraceMs: 200 });
  await using _agent = await serveTestAgent(
    gateway.bus,
    ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  );
  using stream = await openStream({
    port: gateway.port,
    path: "/v1/chat/completions",
    body: { messages: [{ role: "user", content: "?" }], stream: true },
  });
  await gateway.gateway[Symbol.asyncDispose]();
  await expect.poll(() => stream.isEnded()).toBe(true);

  expect(JSON.parse(stream.events().at(-1)?.data ?? "")).toMatchObject({
    error: { code: "outcome_unknown", message: expect.stringContaining("the gateway is stopping") },
  });
  expect(at.agent.turns).toEqual([]);
});

test("headers that contradict the request are refused in words", async () => {
  await using at = await startWaiting();
  const send = async (headers: Record<string, string>, isStream = true) => {
    const body = JSON.stringify({ messages: [{ role: "user", content: "?" }], stream: isStream });
    const { json } = await at.gateway.send(
      { path: "/v1/chat/completions", method: "POST", headers: { "content-type": "application/json", ...headers } },
      body,
    );
    return (json?.["error"] as { message: string } | undefined)?.message;
  };

  expect(await send({ "last-event-id": "3" })).toContain("Last-Event-ID: needs the Idempotency-Key");
  expect(await send({ "last-event-id": "3", "idempotency-key": "k" }, false)).toContain("is for a stream");
  for (const session of ["x".repeat(129), "x".repeat(257), "\u00fc"])
    expect(await send({ "rockbot-session": session })).toContain("rockbot-session: expected 1 to 128");
  expect(await send({ "rockbot-on-close": "keep" })).toContain("keep needs an Idempotency-Key");
  expect(await send({ "rockbot-age-ms": "600000", "idempotency-key": "k" })).toContain(
    "rockbot-age-ms: a turn of the agent takes none",
  );
  expect(at.agent.turns).toEqual([]);
});
