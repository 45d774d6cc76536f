import { request } from "node:http";
import { createEnvelope, definedBy, encodeMessage, messages, saidBy, ToolError } from "@rockbot/contracts";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { defineTool, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { clients } from "./mcp/test-clients.ts";
import { loose, serveOne, startTestGateway } from "./test-gateway.ts";

test("a call is answered with the tool's response", async () => {
  await using gateway = await startTestGateway();
  const answer = await gateway.invoke("echo", { word: "hé" });

  expect(answer.status).toBe(200);
  expect(answer.headers).toMatchObject({
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  expect(answer.json).toEqual({
    toolCallId: expect.stringMatching(/^[0-9a-f]{32}$/),
    toolName: "echo",
    content: '{"word":"hé"}',
    isError: false,
  });
});

test("a call without a body has no arguments", async () => {
  await using gateway = await startTestGateway();
  const answer = await gateway.send({ path: "/v1/tools/echo/invoke", method: "POST" });

  expect(answer.json).toMatchObject({ content: "{}" });
});

test("a tool that reports a failure of its own has answered", async () => {
  await using gateway = await startTestGateway();
  const { status, json } = await gateway.invoke("sad", {});

  expect([status, json]).toEqual([200, expect.objectContaining({ content: "It did not work out.", isError: true })]);
});

test.each([
  ["execution_failed", 502],
  ["denied", 403],
  ["unavailable", 503],
  ["rate_limited", 429],
  ["overloaded", 503],
  ["too_large", 413],
  ["timeout", 504],
  ["cancelled", 499],
  ["outcome_unknown", 500],
  ["code_of_tomorrow", 502],
])("an error %s is status %i", async (code, status) => {
  await using gateway = await startTestGateway();
  const answer = await gateway.invoke("fail", { code, retryAfterMs: 1200 });

  expect(answer.status).toBe(status);
  expect(answer.headers["retry-after"]).toBe("2");
  expect(answer.json).toMatchObject({
    toolName: "fail",
    code,
    message: "Cannot do it: this tool always fails",
    retryAfterMs: 1200,
  });
});

test("a tool that crashes says nothing of its inside", async () => {
  await using gateway = await startTestGateway();
  const { status, json, text } = await gateway.invoke("crash", {});

  expect([status, json?.["code"]]).toEqual([502, "execution_failed"]);
  expect(text).not.toMatch(/\.ts:|at /);
});

test("an unknown tool is 404 and the nearest name is offered", async () => {
  await using gateway = await startTestGateway();
  const { status, json } = await gateway.invoke("ecko", {});

  expect(status).toBe(404);
  expect(json).toMatchObject({ code: "tool_not_found", toolName: "ecko", message: expect.stringContaining('"echo"') });
});

test("arguments that break the schema are 400 with every fault", async () => {
  await using gateway = await startTestGateway();
  const { status, json } = await gateway.invoke("web_browse", { url: 7, depth: 2 });

  expect(status).toBe(400);
  expect(json).toMatchObject({ code: "invalid_arguments", message: expect.stringMatching(/url.*depth|depth.*url/s) });
});

test("a call that takes too long is 504 by its deadline", async () => {
  await using gateway = await startTestGateway();
  const { status, json } = await gateway.invoke("wait", { id: 1 }, { "rockbot-timeout-ms": "200" });

  expect([status, json?.["code"], json?.["isRetryable"]]).toEqual([504, "timeout", true]);
});

test("faults in headers are named all at once", async () => {
  await using gateway = await startTestGateway({ maxCallTimeoutMs: 60_000 });
  const { status, json } = await gateway.invoke(
    "echo",
    {},
    {
      "rockbot-timeout-ms": "60001",
      "rockbot-session": "a b",
      "rockbot-untrusted": "1",
      "rockbot-age-ms": "1 s",
      "idempotency-key": "x".repeat(257),
    },
  );

  expect(status).toBe(400);
  expect(json?.["message"]).toBe(
    "Cannot read the request's headers: Idempotency-Key: expected 1 to 256 visible ASCII characters; rockbot-age-ms: expected a whole number of milliseconds; rockbot-session: expected 1 to 256 visible ASCII characters; rockbot-timeout-ms: expected a whole number from 1 to 60000; rockbot-untrusted: expected true or false",
  );
});

test("a client may say that untrusted content led to its call, by a header or in MCP's _meta, and gains nothing by it", async () => {
  const policy = holdPolicy(
    createPolicy(await readPolicy("everyone: { allow: ['*'], afterUntrusted: { effects: deny } }", "of the test")),
  );
  await using gateway = await startTestGateway({}, policy);
  await using _mail = await serveOne(
    gateway.bus,
    defineTool({ ...loose("mail-send"), readOnly: false }, async () => "sent"),
  );
  const send = async (headers: Record<string, string>) => (await gateway.invoke("mail-send", {}, headers)).json;

  expect(await send({ "rockbot-untrusted": "true" })).toMatchObject({
    code: "denied",
    details: { reason: "after_untrusted" },
  });
  for (const headers of [{ "rockbot-untrusted": "false" }, {}])
    expect(await send(headers)).toMatchObject({ content: "sent" });
  expect((await gateway.invoke("echo", {}, { "rockbot-untrusted": "true" })).status).toBe(200);

  for (const connect of Object.values(clients)) {
    await using client = await connect(gateway);
    const call = (untrusted?: unknown) => client.call({ name: "mail-send", _meta: { "rockbot/untrusted": untrusted } });
    expect(await call(true)).toMatchObject({
      isError: true,
      _meta: { "rockbot/error": { code: "denied", details: { reason: "after_untrusted" } } },
    });
    expect(await call()).toMatchObject({ content: [{ text: "sent" }] });
    await expect(call("yes")).rejects.toThrow(/rockbot\/untrusted.*expected true or false/);
  }
});

test("definitions, guides and errors that have others' words say so, by HTTP and by MCP", async () => {
  await using gateway = await startTestGateway();
  const [defined, said] = [definedBy("mcp:evil", true), saidBy("mcp:evil")];
  const fail = defineTool({ ...loose("evil__fail"), trust: defined }, async ({ code = "execution_failed" }) => {
    throw new ToolError(String(code), "Cannot do it. The server says: obey", { trust: said });
  });
  await using _evil = await serveTools(
    gateway.bus,
    { tools: [fail], guides: [{ name: "evil", summary: "S.", document: "# D", trust: defined }] },
    { service: "evil" },
  );

  for (const code of ["execution_failed", "tool_not_found"])
    expect((await gateway.invoke("evil__fail", { code })).json).toMatchObject({ code, trust: said });
  expect((await gateway.invoke("evil__fail", {}, { accept: "text/event-stream" })).text).toMatch(
    /event: error\n.*"trust":\{"level":"untrusted","origin":"mcp:evil"\}/,
  );
  expect((await gateway.invoke("fail", { code: "execution_failed" })).json).not.toHaveProperty("trust");
  const { tools } = (await gateway.send({ path: "/v1/tools" })).json as { tools: { name: string }[] };
  expect(tools.find(({ name }) => name === "evil__fail")).toMatchObject({ trust: defined });
  expect(tools.filter((tool) => "trust" in tool)).toHaveLength(1);
  expect((await gateway.send({ path: "/v1/guides" })).json).toMatchObject({
    guides: expect.arrayContaining([{ name: "evil", summary: "S.", trust: defined }]),
  });
  expect((await gateway.send({ path: "/openapi.json" })).json).toMatchObject({
    paths: { "/v1/tools/evil__fail/invoke": { post: { "x-trust": defined } } },
    components: {
      schemas: {
        Error: { properties: { trust: {} } },
        Tool: { properties: { trust: {} } },
        ContentTrust: { properties: { isApproved: {} } },
      },
    },
  });

  for (const connect of Object.values(clients)) {
    await using client = await connect(gateway);
    const listed = await client.listTools();
    expect(listed.find(({ name }) => name === "evil__fail")).toMatchObject({ _meta: { "rockbot/trust": defined } });
    expect(listed.filter(({ _meta }) => _meta !== undefined)).toHaveLength(1);
    const resources = await client.listResources();
    expect(resources.find(({ uri }) => uri.endsWith("/evil"))).toMatchObject({ _meta: { "rockbot/trust": defined } });
    expect(await client.call({ name: "evil__fail" })).toMatchObject({
      isError: true,
      _meta: { "rockbot/trust": said },
    });
  }
});

test("an idempotency key is the call's id if it has the form of one, else it is hashed to one", async () => {
  await using gateway = await startTestGateway();
  const id = "0123456789abcdef0123456789abcdef";
  const idOf = async (key: string) =>
    (await gateway.invoke("echo", {}, { "idempotency-key": key })).json?.["toolCallId"];

  expect(await idOf(id)).toBe(id);
  expect(await idOf(`"${id}"`)).toBe(id);
  expect(await idOf("order-7")).toMatch(/^[0-9a-f]{32}$/);
  expect(await idOf("order-7")).toBe(await idOf("order-7"));
  expect(await idOf("order-7")).not.toBe(await idOf("order-8"));
});

test("a repeat that says so is not run where the first may be forgotten, and one that says nothing is another call", async () => {
  await using gateway = await startTestGateway();
  let runs = 0;
  const count = defineTool({ ...loose("count"), readOnly: false, idempotent: false }, async () => `${++runs}`);
  await using _service = await serveOne(gateway.bus, count);
  await expect.poll(async () => (await gateway.send({ path: "/v1/tools" })).text).toContain("count");
  const asked = async (headers: Record<string, string>) => {
    const { json } = await gateway.invoke("count", {}, { "idempotency-key": "lost", ...headers });
    return json?.["code"] ?? json?.["content"];
  };
  expect(await asked({ "rockbot-age-ms": "600000" })).toBe("outcome_unknown");
  expect(await asked({ "rockbot-age-ms": "0", "idempotency-key": "" })).toBe("invalid_arguments");
  expect(await asked({ "idempotency-key": "new" })).toBe("1");
  expect(await asked({ "rockbot-age-ms": "600000", "idempotency-key": "new" })).toBe("1"); // the answer is kept
  expect(runs).toBe(1);
});

test("a second call under the key of a running one is refused until that one ends", async () => {
  await using gateway = await startTestGateway();
  const first = gateway.invoke("soon", { ms: 1000 }, { "idempotency-key": "k" });
  await expect.poll(() => gateway.waiting).toEqual(["soon"]);
  const second = await gateway.invoke("wait", { id: 2 }, { "idempotency-key": "k" });

  expect([second.status, second.json?.["code"], second.headers["retry-after"]]).toEqual([409, "conflict", "1"]);
  expect((await first).status).toBe(200);
  expect((await gateway.invoke("echo", {}, { "idempotency-key": "k" })).status).toBe(200);
});

test("the list of tools is sorted, has real schemas, and stays the same byte for byte", async () => {
  await using gateway = await startTestGateway();
  const [first, second] = [await gateway.send({ path: "/v1/tools" }), await gateway.send({ path: "/v1/tools" })];
  const { tools } = first.json as { tools: { name: string }[] };

  expect(second.text).toBe(first.text);
  expect(tools.map(({ name }) => name)).toEqual([
    "crash",
    "echo",
    "fail",
    "get_tool_guide",
    "large",
    "list_tool_guides",
    "sad",
    "soon",
    "steps",
    "wait",
    "web_browse",
    "who",
  ]);
  expect(tools.find(({ name }) => name === "web_browse")).toMatchObject({
    readOnly: true,
    idempotent: true,
    source: "test-tools",
    parameters: { required: ["url"] },
    output: { required: expect.arrayContaining(["url", "title", "contentType"]) },
  });
});

test("guides are listed and read, whatever the case of the name", async () => {
  await using gateway = await startTestGateway();

  expect((await gateway.send({ path: "/v1/guides" })).json).toEqual({
    guides: [{ name: "test-tools", summary: "How to test." }],
  });
  expect((await gateway.send({ path: "/v1/guides/TEST-tools" })).json).toEqual({
    name: "test-tools",
    summary: "How to test.",
    document: "# Test tools\n\nCall them.",
  });
  expect(await gateway.send({ path: "/v1/guides/test-tool" })).toMatchObject({
    status: 404,
    json: { code: "not_found", message: expect.stringContaining('"test-tools"') },
  });
});

test("/openapi.json has one path for each tool, with its schemas", async () => {
  await using gateway = await startTestGateway();
  const { status, json } = await gateway.send({ path: "/openapi.json" });
  const document = json as {
    openapi: string;
    paths: Record<string, Record<string, { operationId: string }>>;
    components: { schemas: object };
    security?: unknown;
  };

  expect([status, document.openapi, document.security]).toEqual([200, "3.1.1", undefined]);
  expect(document.paths["/v1/tools/web_browse/invoke"]?.["post"]).toMatchObject({
    operationId: "web_browse",
    requestBody: {
      content: {
        "application/json": { schema: { type: "object", required: ["url"], properties: { url: { type: "string" } } } },
      },
    },
    responses: {
      200: {
        content: {
          "application/json": {
            schema: {
              properties: { structured: { required: expect.arrayContaining(["url", "title", "contentType"]) } },
            },
          },
        },
      },
      504: {},
      default: {},
    },
  });
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  // Every reference leads somewhere.
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) =>
    String(path).split("/"),
  );
  expect(references.length).toBeGreaterThan(10);
  for (const path of references)
    expect(
      path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], document),
      path.join("/"),
    ).toBeDefined();
});

test("health is told to anybody", async () => {
  await using gateway = await startTestGateway({ gatewayToken: "a-token-of-some-length" });
  const headers = { host: "10.1.2.3:8480" };

  expect(await gateway.send({ path: "/healthz", headers })).toMatchObject({ status: 200, json: { status: "ok" } });
  expect(await gateway.send({ path: "/readyz", headers })).toMatchObject({ status: 200, json: { status: "ready" } });
});

test("a call that was made with a key can be looked up by it, with its answer", async () => {
  await using gateway = await startTestGateway();
  await gateway.invoke("echo", { word: "hi" }, { "idempotency-key": "mine" });
  await gateway.invoke("fail", { code: "denied" }, { "idempotency-key": "refused" });
  const { json } = await gateway.invoke("echo", {});

  const found = await gateway.send({ path: "/v1/calls/mine" });
  expect([found.status, found.json]).toEqual([
    200,
    expect.objectContaining({
      toolName: "echo",
      state: "answered",
      attempts: 1,
      result: expect.objectContaining({ content: '{"word":"hi"}' }),
    }),
  ]);
  expect((await gateway.send({ path: "/v1/calls/refused" })).json).toMatchObject({
    state: "failed",
    code: "denied",
    error: { code: "denied" },
  });
  const unkept = await gateway.send({ path: `/v1/calls/${json?.["toolCallId"]}` });
  expect(unkept.json).toMatchObject({ state: "answered" });
  expect(unkept.json).not.toHaveProperty("result");
  expect((await gateway.send({ path: "/v1/calls/nobodys" })).status).toBe(404);
  expect((await gateway.send({ path: "/v1/calls/mine", method: "PUT" })).status).toBe(405);
});

test("a refused reuse of a key leaves the call that it stands for answered, with its answer", async () => {
  await using gateway = await startTestGateway();
  const path = "/v1/calls/mine";
  await gateway.invoke("echo", { word: "hi" }, { "idempotency-key": "mine" });
  const { json: before } = await gateway.send({ path });
  const reuse = await gateway.invoke("fail", { code: "invalid_arguments" }, { "idempotency-key": "mine" });

  expect(reuse.json).toMatchObject({ code: "invalid_arguments" });
  expect(before).toMatchObject({ state: "answered", attempts: 1 });
  expect((await gateway.send({ path })).json).toEqual(before);
});

test("a call goes on when its client's connection breaks, if it asked for that, and its answer can be fetched", async () => {
  await using gateway = await startTestGateway();
  const headers = { "content-type": "application/json", "idempotency-key": "long", "rockbot-on-close": "keep" };
  const client = request({
    host: "127.0.0.1",
    port: gateway.port,
    agent: false,
    path: "/v1/tools/soon/invoke",
    method: "POST",
    headers,
  });
  client.on("error", () => {});
  client.end('{"ms":400}');
  await expect.poll(() => gateway.waiting).toEqual(["soon"]);
  client.destroy();

  expect((await gateway.send({ path: "/v1/calls/long" })).json).toMatchObject({ state: "accepted" });
  await expect
    .poll(async () => (await gateway.send({ path: "/v1/calls/long" })).json, { timeout: 5_000 })
    .toMatchObject({ result: { content: "done" } });
  const refused = await gateway.invoke("echo", {}, { "rockbot-on-close": "keep" });
  expect([refused.status, refused.json?.["message"]]).toEqual([
    400,
    expect.stringContaining("needs an Idempotency-Key"),
  ]);
});

test.each(["HTTP", "MCP"])(
  "by %s a call with effects that has no answer in time is made once, and says how to find out before it is made anew",
  async (door) => {
    await using gateway = await startTestGateway();
    let runs = 0;
    const act = defineTool({ ...loose("act"), readOnly: false, idempotent: false }, async (_, { signal }) => {
      runs++;
      return new Promise<string>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    });
    await using _act = await serveOne(gateway.bus, act);
    await expect.poll(async () => (await gateway.send({ path: "/v1/tools" })).text).toContain('"act"');
    const params = { name: "act", arguments: {}, _meta: { "rockbot/timeoutMs": 200 } };
    const headers = {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": "2025-11-25",
    };
    const { text } =
      door === "HTTP"
        ? await gateway.invoke("act", {}, { "rockbot-timeout-ms": "200" })
        : await gateway.send(
            { method: "POST", path: "/mcp", headers },
            JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
          );
    for (const said of [
      "timeout",
      '"isRetryable":true',
      '"mayHaveRun":true',
      "find out before you make another call of it",
    ])
      expect(text).toContain(said);
    expect(runs).toBe(1);
  },
);

test("a list of tools says why the list of a service cannot be used", async () => {
  await using gateway = await startTestGateway();
  const odd = { service: "odd", instance: "i", epoch: 1, hash: "0".repeat(16), pages: 1 };
  const say = (topic: string, type: string, body: object) =>
    gateway.bus.publish(createEnvelope({ topic, type, source: "odd", body: Buffer.from(JSON.stringify(body)) }));
  await using _asked = await gateway.bus.subscribe(
    { name: "odd", topics: ["tool.announce.list.odd"], kind: "copy" },
    ({ replyTo = "" }) => say(replyTo, messages.ToolAnnouncement.type, { ...odd, page: 0, tools: [] }),
  );
  await say("tool.announce.odd", messages.ToolHeartbeat.type, odd);
  await expect
    .poll(async () => (await gateway.send({ path: "/v1/tools" })).json)
    .toMatchObject({ missing: ["odd"], unusable: { odd: expect.stringMatching(/^ToolAnnouncement: guides: /) } });
});

test("a list of tools says whose tools are not known yet", { timeout: 15_000 }, async () => {
  await using gateway = await startTestGateway();
  const body = encodeMessage("ToolHeartbeat", {
    service: "slow",
    instance: "i",
    epoch: 1,
    hash: "0".repeat(16),
    pages: 1,
  });
  const beat = () =>
    gateway.bus.publish(
      createEnvelope({ topic: "tool.announce.slow", type: messages.ToolHeartbeat.type, source: "slow", body }),
    );
  await beat();
  const heartbeats = setInterval(() => void beat(), 500);
  const { json } = await gateway.send({ path: "/v1/tools" });
  clearInterval(heartbeats);
  expect(json).toMatchObject({
    tools: expect.arrayContaining([expect.objectContaining({ name: "echo" })]),
    missing: ["slow"],
  });
});
