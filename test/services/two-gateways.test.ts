import { createHash, randomBytes } from "node:crypto";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { connectBus } from "@rockbot/bus-rabbitmq";
import type { ToolDefinition, Validator } from "@rockbot/contracts";
import { openPolicy } from "@rockbot/policy";
import { connectRedisJournalStore } from "@rockbot/records/journal/redis";
import { sharedAmqpUrl, sharedRedisUrl, temporaryFolder } from "@rockbot/testing";
import { createToolCaller, defineTool, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startService } from "./start-service.ts";

const POLL = { timeout: 30_000, interval: 50 };
const CALLS = 32;
const hashOf = (token: string) => `sha256:${createHash("sha256").update(token).digest("hex")}`;

/** Two gateways of one agent, and a tool that gives back its argument, or waits until it is cancelled. */
async function start() {
  const [busUrl, redisUrl] = await Promise.all([sharedAmqpUrl(), sharedRedisUrl()]);
  const name = `echo-${randomBytes(4).toString("hex")}`;
  const [waiting, cancelled]: [string[], string[]] = [[], []];
  const validateInput = ((_: unknown) => true) as unknown as Validator<{ readonly waits?: string }>;
  const definition: ToolDefinition<{ readonly waits?: string }> = {
    name,
    description: "Echoes.",
    inputSchema: {},
    readOnly: true,
    idempotent: true,
    validateInput,
  };
  const tool = defineTool(definition, async ({ waits }, { signal }) => {
    if (waits === undefined) return "done";
    waiting.push(waits);
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    cancelled.push(waits);
    throw signal.reason;
  });
  await using started = new AsyncDisposableStack();
  const bus = started.use(await connectBus(busUrl, { name }));
  const policyFile = started.use(temporaryFolder()).write("policy.json", {
    delegates: [name],
    callers: Object.fromEntries(
      ["alice", "bob"].map((caller) => [
        caller,
        { allow: ["*"], tokens: [{ hash: hashOf(`token-of-${caller}-of-the-test`) }] },
      ]),
    ),
    keep: { tools: ["echo-*"] },
    operators: [{ name: "ada", sees: ["arguments"], tokens: [{ hash: hashOf("token-of-ada-of-the-test") }] }],
  });
  const policy = started.use(await openPolicy(policyFile));
  const guides = [{ name, summary: "Echoes.", document: "# Echo" }];
  started.use(await serveTools(bus, { tools: [tool], guides }, { service: name, policy }));
  const env = { BUS_URL: busUrl, REDIS_URL: redisUrl, PORT: "0", AGENT_NAME: name, POLICY_FILE: policyFile };
  const gateways = await Promise.all([startService("gateway", env), startService("gateway", env)]);
  for (const gateway of gateways) started.use(gateway);
  const urls = gateways.map((gateway) => /http:\/\/127\.0\.0\.1:\d+/.exec(gateway.stdout())?.[0] ?? "");

  const by = (who: string) => ({ authorization: `Bearer token-of-${who}-of-the-test` });
  let posts = 0;
  /** The requests of a client go to one gateway after the other, as a balancer sends them. */
  const alternate: typeof fetch = (at, init) => {
    const { pathname } = new URL(String(at));
    return fetch(`${urls[init?.method === "POST" ? posts++ % 2 : 0]}${pathname}`, init);
  };
  const parts = started.move();
  return {
    name,
    bus,
    redisUrl,
    urls,
    by,
    alternate,
    waiting,
    cancelled,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

test("a client whose MCP requests go to two gateways in turn has one session, which is its own, and can cancel calls and end it at either", {
  timeout: 120_000,
}, async () => {
  await using system = await start();
  const { name, urls, by, alternate, waiting, cancelled } = system;
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode: "legacy" } });
  const transport = new StreamableHTTPClientTransport(new URL("/mcp", urls[0]), {
    fetch: alternate,
    requestInit: { headers: by("alice") },
  });
  await client.connect(transport);
  const answers: unknown[] = [];
  for (let call = 0; call < CALLS; call++) answers.push((await client.callTool({ name, arguments: {} })).content);
  expect(answers).toEqual(Array.from({ length: CALLS }, () => [{ type: "text", text: "done" }]));

  const given = new AbortController();
  const answer = client
    .callTool({ name, arguments: { waits: "once" } }, { signal: given.signal })
    .catch(() => "given up");
  await expect.poll(() => waiting, POLL).toEqual(["once"]);
  given.abort();
  expect(await answer).toBe("given up");
  await expect.poll(() => cancelled, POLL).toEqual(["once"]);

  const session = transport.sessionId ?? "";
  const statusesOf = (who: string) =>
    Promise.all(
      urls.map(async (url) => {
        const headers = {
          ...by(who),
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-session-id": session,
        };
        return (
          await fetch(`${url}/mcp`, { method: "POST", headers, body: '{"jsonrpc":"2.0","id":"ping","method":"ping"}' })
        ).status;
      }),
    );
  expect([await statusesOf("alice"), await statusesOf("bob")]).toEqual([
    [200, 200],
    [404, 404],
  ]);
  await client.close();
  expect(
    (await fetch(`${urls[1]}/mcp`, { method: "DELETE", headers: { ...by("alice"), "mcp-session-id": session } }))
      .status,
  ).toBe(200);
  expect(await statusesOf("alice")).toEqual([404, 404]);
});

test("a call that one gateway made is found at the other, by its caller and by operators, with its answer; operators also find those of a program", {
  timeout: 120_000,
}, async () => {
  await using system = await start();
  const { name, bus, redisUrl, urls, by } = system;
  const ids: string[] = [];
  for (const [at, url] of urls.entries()) {
    const headers = { ...by("alice"), "content-type": "application/json", "idempotency-key": `key-${at}` };
    const { toolCallId } = (await (
      await fetch(`${url}/v1/tools/${name}/invoke`, { method: "POST", headers, body: "{}" })
    ).json()) as { toolCallId: string };
    ids.push(toolCallId);
  }
  await using journals = await connectRedisJournalStore(redisUrl);
  await using program = await createToolCaller(bus, { agent: `${name}-program`, journals });
  await expect(program.call(name, {}, { toolCallId: `of-${name}` })).rejects.toMatchObject({ code: "denied" });
  const read = async (url: string, who: string) =>
    (await (await fetch(url, { headers: by(who) })).json()) as Record<string, unknown>;
  for (const url of urls) {
    for (const [at, toolCallId] of ids.entries()) {
      const found = { toolCallId, state: "answered" };
      await expect
        .poll(() => read(`${url}/v1/calls/key-${at}`, "alice"), POLL)
        .toMatchObject({ ...found, result: { content: "done" } });
      expect(await read(`${url}/operator/calls/${toolCallId}`, "ada")).toMatchObject({ call: found });
      expect(await read(`${url}/operator/calls/${toolCallId}/kept`, "ada")).toMatchObject({
        arguments: { state: "kept", text: "{}" },
        result: { state: "not-seen" },
      });
      expect(await read(`${url}/v1/calls/key-${at}`, "bob")).toMatchObject({ code: "not_found" });
    }
    const listed = async () => {
      const { calls } = (await read(`${url}/operator/calls?tool=${name}`, "ada")) as {
        calls: { toolCallId: string }[];
      };
      return calls.map(({ toolCallId }) => toolCallId).sort();
    };
    await expect.poll(listed, POLL).toEqual([...ids, `of-${name}`].sort());
    expect(await read(`${url}/operator/calls/of-${name}`, "ada")).toMatchObject({
      call: { caller: expect.stringContaining("-program"), code: "denied" },
    });
    expect((await fetch(`${url}/operator/calls?limit=all`, { headers: by("ada") })).status).toBe(400);
  }
});
