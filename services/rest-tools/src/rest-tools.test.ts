import type { ServerResponse } from "node:http";
import { startRecordingServer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { startTestRestTools } from "./test-rest-tools.ts";

const json = (
  response: ServerResponse,
  value: unknown,
  { status = 200, ...headers }: Readonly<Record<string, string | number | string[]>> = {},
): void => {
  response.writeHead(status as number, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(value));
};
/** As it stands in the file. */
const place = (name: string): string => `$\{${name}}`;
const schema = (...names: readonly string[]) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
});

test("the arguments that stand nowhere else are the JSON body of POST, PUT and PATCH, and the query of others", async () => {
  await using server = await startRecordingServer();
  const url = `${server.url}/items/{id}`;
  const endpoints = ["GET", "DELETE", "POST", "PUT", "PATCH"].map((method) => ({
    name: method.toLowerCase(),
    urlTemplate: url,
    method,
    parametersSchema: schema("id", "title"),
  }));
  const plain = {
    name: "plain",
    urlTemplate: url,
    method: "POST",
    sendBodyAsJson: false,
    parametersSchema: schema("id", "title"),
  };
  await using rest = await startTestRestTools({ endpoints: [...endpoints, plain] }, { ports: [server.port] });

  for (const { name } of [...endpoints, plain]) await rest.caller.call(`rest__${name}`, { id: "a b", title: "x&y" });
  expect(server.take().map(({ method, target, body }) => [method, target, body.toString()])).toEqual([
    ["GET", "/items/a%20b?title=x%26y", ""],
    ["DELETE", "/items/a%20b?title=x%26y", ""],
    ["POST", "/items/a%20b", '{"title":"x&y"}'],
    ["PUT", "/items/a%20b", '{"title":"x&y"}'],
    ["PATCH", "/items/a%20b", '{"title":"x&y"}'],
    ["POST", "/items/a%20b?title=x%26y", ""],
  ]);
});

test("a body of the file keeps the types of arguments, leaves out what is missing, and is sent as JSON, a form or several parts", async () => {
  await using server = await startRecordingServer();
  const parametersSchema = {
    type: "object",
    properties: { tags: { type: "array" }, title: { type: "string" }, count: { type: "integer" } },
  };
  const body = {
    tags: place("parameters.tags"),
    text: `Of ${place("parameters.title")}`,
    count: place("parameters.count"),
    fixed: true,
  };
  const tool = (bodyType: string) => ({ url: `${server.url}/x`, method: "POST", parametersSchema, body, bodyType });
  await using rest = await startTestRestTools(
    { tools: { json: tool("json"), form: tool("form"), multipart: tool("multipart") } },
    { ports: [server.port] },
  );

  for (const type of ["json", "form", "multipart"])
    await rest.caller.call(`rest__${type}`, { tags: ["a", "b"], title: 'x"\r\ny' });
  const [first, second, third] = server.take();
  expect(JSON.parse(first?.body.toString() ?? "")).toEqual({ tags: ["a", "b"], text: 'Of x"\r\ny', fixed: true });
  expect(second?.body.toString()).toBe("tags=a&tags=b&text=Of%20x%22%0D%0Ay&fixed=true");
  const form = await new Response(third?.body, {
    headers: { "content-type": third?.headers["content-type"] ?? "" },
  }).formData();
  expect([...form]).toEqual([
    ["tags", "a"],
    ["tags", "b"],
    ["text", 'Of x"\r\ny'],
    ["fixed", "true"],
  ]);
});

test("what comes out of a variable or an argument is never expanded, and an unlisted variable is a fault", async () => {
  await using server = await startRecordingServer();
  const env = { LISTED: place("OTHER") + place("parameters.b"), OTHER: "o-secret-value", BASE: server.url };
  const [a, b] = [place("LISTED"), place("parameters.b")];
  const tool = {
    method: "POST",
    url: `${place("BASE")}/x/${b}`,
    query: { a, b },
    headers: { "X-A": a, "X-B": b },
    body: { a, b },
    parametersSchema: schema("b"),
  };
  await using rest = await startTestRestTools(
    { environment: ["BASE", "LISTED"], tools: { tool } },
    { env, ports: [server.port] },
  );
  await rest.caller.call("rest__tool", { b: place("OTHER") });

  const [request] = server.take();
  const [listed, other] = [env.LISTED, place("OTHER")];
  expect(request?.target).toBe(
    `/x/${encodeURIComponent(other)}?a=${encodeURIComponent(listed)}&b=${encodeURIComponent(other)}`,
  );
  expect([request?.headers["x-a"], request?.headers["x-b"], JSON.parse(request?.body.toString() ?? "")]).toEqual([
    listed,
    other,
    { a: listed, b: other },
  ]);
  await expect(startTestRestTools({ environment: ["BASE"], tools: { tool } }, { env })).rejects.toThrow(
    /tools\.tool\.query\.a, line 1: the variable LISTED is not listed/,
  );
});

test("a caller uses the account that the policy gives it, and none without", async () => {
  await using server = await startRecordingServer();
  const file = {
    credentials: { shop: { origins: [server.url], accounts: { ada: "ADA_KEY", bob: "BOB_KEY" } } },
    tools: { orders: { url: `${server.url}/orders`, credential: "shop" } },
  };
  const env = { ADA_KEY: "ada-key-0123", BOB_KEY: "bob-key-0123" };
  const policy =
    "everyone: { allow: ['*'] }\ncallers: { one: { credentials: { shop: ada } }, two: { credentials: { shop: bob } }, none: {} }";
  for (const agent of ["one", "two"]) {
    await using rest = await startTestRestTools(file, { env, policy, agent, ports: [server.port] });
    await rest.caller.call("rest__orders", {});
  }
  expect(server.take().map(({ headers }) => headers.authorization)).toEqual([
    "Bearer ada-key-0123",
    "Bearer bob-key-0123",
  ]);
  await using rest = await startTestRestTools(file, { env, policy, agent: "none", ports: [server.port] });
  await expect(rest.caller.call("rest__orders", {})).rejects.toMatchObject({
    code: "denied",
    message: expect.stringContaining("callers.none.credentials"),
  });
  expect(server.take()).toEqual([]);
});

test("an endpoint in the form of the .NET original names its own token or key, and where that goes", async () => {
  await using server = await startRecordingServer();
  const endpoint = (Name: string, more: object) => ({ Name, UrlTemplate: `${server.url}/x`, ...more });
  const AuthEnvVar = "KEY";
  const Endpoints = [
    endpoint("bearer", { AuthType: "bearer", AuthEnvVar }),
    endpoint("key", { AuthType: "api_key", AuthEnvVar }),
    endpoint("own_key", { AuthType: "api_key", AuthEnvVar, ApiKeyHeader: "X-Own" }),
    endpoint("none", { AuthType: "none" }),
  ];
  await using rest = await startTestRestTools(
    { RestTools: { Endpoints } },
    { env: { KEY: "k-0123456789" }, ports: [server.port] },
  );

  for (const { Name } of Endpoints) await rest.caller.call(`rest__${Name}`, {});
  expect(server.take().map(({ headers }) => [headers.authorization, headers["x-api-key"], headers["x-own"]])).toEqual([
    ["Bearer k-0123456789", undefined, undefined],
    [undefined, "k-0123456789", undefined],
    [undefined, undefined, "k-0123456789"],
    [undefined, undefined, undefined],
  ]);
});

test("a credential stands where its type says, and goes to its origins only", async () => {
  await using server = await startRecordingServer();
  const origins = [server.url];
  const credentials = {
    bearer: { origins, env: "KEY" },
    basic: { type: "basic", origins, env: "KEY" },
    header: { type: "api_key", origins, env: "KEY", header: "X-Own" },
    query: { type: "api_key", origins, env: "KEY", query: "key" },
    cookie: { type: "api_key", origins, env: "KEY", cookie: "sid" },
  };
  const tools = Object.fromEntries(
    Object.keys(credentials).map((name) => [
      name,
      { url: `${server.url}/x`, query: { key: place("parameters.key") }, credential: name },
    ]),
  );
  await using rest = await startTestRestTools(
    { credentials, tools },
    { env: { KEY: "user:pass word" }, ports: [server.port] },
  );

  for (const name of Object.keys(credentials)) await rest.caller.call(`rest__${name}`, { key: "mine" });
  const [bearer, basic, header, query, cookie] = server.take();
  expect([
    bearer?.headers.authorization,
    basic?.headers.authorization,
    header?.headers["x-own"],
    query?.target,
    cookie?.headers.cookie,
  ]).toEqual([
    "Bearer user:pass word",
    `Basic ${Buffer.from("user:pass word").toString("base64")}`,
    "user:pass word",
    "/x?key=user%3Apass%20word",
    "sid=user%3Apass%20word",
  ]);
  const elsewhere = { credentials, tools: { x: { url: "https://elsewhere.example/x", credential: "bearer" } } };
  await expect(startTestRestTools(elsewhere, { env: { KEY: "k" } })).rejects.toThrow(
    /is not for https:\/\/elsewhere\.example/,
  );
});

test("a credential that a service says back does not reach the bus", async () => {
  await using server = await startRecordingServer(({ target, headers }, response) =>
    json(
      response,
      { said: [headers.authorization, headers["x-key"]], at: target },
      { status: target.startsWith("/error") ? 400 : 200 },
    ),
  );
  const [bearer, own] = ["b-secret-0123456789", "o-secret-0123456789"];
  const endpoint = (path: string) => ({
    url: `${server.url}/${path}?key=${place("OWN")}`,
    credential: "shop",
    headers: { "X-Key": place("OWN") },
  });
  const file = {
    environment: ["OWN"],
    credentials: { shop: { origins: [server.url], env: "BEARER" } },
    tools: { answer: endpoint("answer"), error: endpoint("error") },
  };
  await using rest = await startTestRestTools(file, { env: { BEARER: bearer, OWN: own }, ports: [server.port] });

  const said = await Promise.all(
    ["answer", "error"].map((name) => rest.caller.call(`rest__${name}`, {}).catch((error: Error) => error.message)),
  );
  expect(server.take().map(({ headers }) => headers["x-key"])).toEqual([own, own]);
  expect(JSON.stringify(said)).toContain("said");
  for (const secret of [bearer, own]) expect(JSON.stringify(said)).not.toContain(secret);
});

test("answers come as pretty JSON, a selected part, text, or the type and size of what is neither", async () => {
  await using server = await startRecordingServer(({ target }, response) => {
    if (target === "/png")
      return void response
        .writeHead(200, { "content-type": "image/png" })
        .end(Buffer.from("\x89PNG\r\n\x1a\n1234", "latin1"));
    if (target === "/text")
      return void response
        .writeHead(200, { "content-type": "text/plain; charset=iso-8859-1" })
        .end(Buffer.from("caf\xe9", "latin1"));
    if (target === "/303") return void response.writeHead(303, { location: "/json" }).end();
    if (target === "/300") return void response.writeHead(300).end("several");
    if (target === "/made") return void response.writeHead(201, { location: "/things/7" }).end();
    if (target === "/308") return void response.writeHead(308, { location: "/things/" }).end();
    if (target === "/none") return void response.writeHead(204).end();
    json(response, { items: [{ id: 1, name: "a" }], __proto__x: 1 });
  });
  const at = (path: string, more: object = {}) => ({ url: server.url + path, ...more });
  const tools = {
    whole: at("/json"),
    pointer: at("/json", { select: "/items/0/name" }),
    path: at("/json", { select: "items[].id" }),
    png: at("/png"),
    text: at("/text"),
    none: at("/none"),
    made: at("/made", { method: "POST" }),
    seen: at("/303", { method: "POST" }),
    moved: at("/308", { method: "POST" }),
    several: at("/300"),
  };
  await using rest = await startTestRestTools({ tools }, { ports: [server.port] });
  const content = async (name: string) => (await rest.caller.call(`rest__${name}`, {})).content;

  expect(await content("whole")).toBe(
    '{\n  "items": [\n    {\n      "id": 1,\n      "name": "a"\n    }\n  ],\n  "__proto__x": 1\n}',
  );
  expect([await content("pointer"), await content("path")]).toEqual(['"a"', "[\n  1\n]"]);
  expect([await content("png"), await content("text"), await content("none")]).toEqual([
    expect.stringMatching(/^\(The answer is an image of the type image\/png, 12 bytes: kept as file_[0-9a-f]{32}\.\)$/),
    "café",
    "(Status 204, without content.)",
  ]);
  expect([await content("made"), await content("seen"), await content("several")]).toEqual([
    '(Status 201, without content. It names the address "/things/7".)',
    '(Status 303. The answer names another address, "/json", which is not followed.)',
    "(Status 300. The answer names no address to go on at, and its content is not shown.)",
  ]);
  expect(await rest.files.list("tester")).toMatchObject([{ name: "png", type: "image/png", isUntrusted: true }]);
  await expect(content("moved")).rejects.toMatchObject({
    code: "execution_failed",
    message: expect.stringContaining('nothing was carried out: it has moved to "/things/"'),
    details: { status: 308 },
    trust: { level: "untrusted" },
  });
  expect((await rest.caller.call("rest__whole", {})).trust).toEqual({
    level: "untrusted",
    origin: `${server.url}/json`,
  });
});

test("lines of JSON and events are told as they come, and are one result", async () => {
  await using server = await startRecordingServer(({ target }, response) => {
    const isEvents = target === "/events";
    response.writeHead(200, { "content-type": isEvents ? "text/event-stream" : "application/x-ndjson" });
    response.write(isEvents ? 'data: {"n":1}\n\nevent: x\ndata: wo' : '{"n":1}\n{"n"');
    response.end(isEvents ? "rd\n\ndata: [DONE]\n\n" : ':2}\n"last"');
  });
  await using rest = await startTestRestTools(
    { tools: { lines: { url: `${server.url}/lines` }, events: { url: `${server.url}/events` } } },
    { ports: [server.port] },
  );
  const heard: (string | undefined)[] = [];
  const call = async (name: string) =>
    JSON.parse(
      (await rest.caller.call(`rest__${name}`, {}, { onProgress: ({ message }) => heard.push(message ?? undefined) }))
        .content ?? "",
    );

  expect([await call("lines"), await call("events")]).toEqual([
    [{ n: 1 }, { n: 2 }, "last"],
    [{ n: 1 }, "word"],
  ]);
  expect(heard.length).toBeGreaterThan(1);
});

test("several pages are read, by a cursor, a number or a link, and only from the same origin", async () => {
  await using server = await startRecordingServer(({ target }, response) => {
    const url = new URL(target, "http://x");
    const n = Number(url.searchParams.get("page") ?? url.searchParams.get("cursor") ?? 0);
    const next = n < 3 ? n + 1 : undefined;
    const link =
      url.pathname === "/foreign"
        ? '<http://127.0.0.1:1/x>; rel="next"'
        : next === undefined
          ? ""
          : `<${url.pathname}?page=0>; rel="first", <${url.pathname}?page=${next}>; rel="next"`;
    json(response, { items: [n], next }, { link: url.pathname === "/links" ? link.split(/, (?=<)/) : link });
  });
  const tool = (path: string, paging: object) => ({ url: server.url + path, paging: { items: "items", ...paging } });
  const tools = {
    cursor: tool("/cursor", { next: "/next", query: "cursor" }),
    number: tool("/number", { query: "page", from: 0, maxPages: 2 }),
    link: tool("/link", { link: true }),
    links: tool("/links", { link: true }),
    foreign: tool("/foreign", { link: true }),
  };
  const credentials = { key: { type: "api_key", origins: [server.url], env: "KEY", query: "key" } };
  const signed = Object.fromEntries(
    Object.entries(tools).map(([name, each]) => [name, { ...each, credential: "key" }]),
  );
  await using rest = await startTestRestTools(
    { credentials, tools: signed },
    { env: { KEY: "k-0123456789" }, ports: [server.port] },
  );
  const content = async (name: string) =>
    (await rest.caller.call(`rest__${name}`, {})).content?.replaceAll(/\s+/g, " ");

  expect(await Promise.all(Object.keys(tools).map(content))).toEqual([
    "[ 0, 1, 2, 3 ]",
    "[ 0, 1 ] (There are more pages: 2 were read.)",
    "[ 0, 1, 2, 3 ]",
    "[ 0, 1, 2, 3 ]",
    "[ 0 ] (There may be more pages: 1 were read. The next one is at another origin than the first, where it is not read.)",
  ]);
  expect(server.take().filter(({ target }) => !/[?&]key=k-0123456789(?:&|$)/.test(target))).toEqual([]);
});

test.each([
  ["a link that breaks off", { link: true }, '</x?page=1>; rel="next', "could not be found: 1 were read"],
  ["a header without a link", { link: true }, "next page", "could not be found: 1 were read"],
  ["a second rel of one link", { link: true }, '</x?page=1>; rel="prev"; rel="next"', undefined],
  ["links without the next page", { link: true }, '</x>; title="a, <b>; rel=next"; rel=first,', undefined],
  ["a pointer that leads nowhere", { next: "/meta/next" }, "", "could not be found: 1 were read"],
  ["a next page of another kind", { next: "/items" }, "", "could not be found: 1 were read"],
  ["a next page that is null", { next: "/none" }, "", undefined],
  ["a next page that is not JSON", { next: "/text" }, "", "could not be found: 1 were read"],
])("where paging ends by %s, the answer says so if there may be more", async (_, paging, link, words) => {
  await using server = await startRecordingServer(({ target }, response) => {
    if (target === "/text") return void response.writeHead(200, { "content-type": "text/plain" }).end("busy");
    json(response, { items: [0], none: null, text: "/text" }, { link });
  });
  await using rest = await startTestRestTools(
    { tools: { x: { url: `${server.url}/x`, paging: { items: "items", ...paging } } } },
    { ports: [server.port] },
  );

  const content = (await rest.caller.call("rest__x", {})).content ?? "";
  expect(content.replaceAll(/\s/g, "")).toMatch(/^\[0\]/);
  if (words === undefined) expect(content).not.toContain("pages");
  else expect(content).toContain(words);
});

test("a page that a redirect leads to names no further page: no credential follows it there", async () => {
  await using elsewhere = await startRecordingServer((_, response) =>
    json(response, [1], { link: '</more>; rel="next"' }),
  );
  await using server = await startRecordingServer((_, response) =>
    response.writeHead(302, { location: `${elsewhere.url}/first` }).end(),
  );
  const paging = { link: true };
  const headers = { Authorization: `Bearer ${place("TOKEN")}` };
  const credentials = { key: { origins: [server.url], env: "TOKEN" } };
  const tools = {
    bound: { url: `${server.url}/x`, credential: "key", paging },
    own: { url: `${server.url}/x`, headers, paging },
  };
  await using rest = await startTestRestTools(
    { environment: ["TOKEN"], credentials, tools },
    { env: { TOKEN: "t-0123456789" }, ports: [server.port, elsewhere.port] },
  );

  for (const name of Object.keys(tools))
    expect((await rest.caller.call(`rest__${name}`, {})).content).toMatch(
      /^\[\n {2}1\n\]\n\n\(There may be more pages: 1 were read\./,
    );
  expect(server.take().map((request) => request.headers.authorization)).toEqual([
    "Bearer t-0123456789",
    "Bearer t-0123456789",
  ]);
  expect(elsewhere.take().map((request) => [request.target, request.headers.authorization])).toEqual([
    ["/first", undefined],
    ["/first", undefined],
  ]);
});

test("all pages of a call together are as large as one answer may be", async () => {
  await using server = await startRecordingServer(({ target }, response) =>
    json(response, { text: "x".repeat(400), next: `${target}x` }),
  );
  const tools = { x: { url: `${server.url}/x`, paging: { next: "/next", maxPages: 100 } } };
  await using rest = await startTestRestTools({ tools }, { config: { maxResponseBytes: 1_000 }, ports: [server.port] });

  expect((await rest.caller.call("rest__x", {})).content).toMatch(/There are more pages: 3 were read/);
  expect(server.requests).toHaveLength(3);
});

test.each([
  [400, { error: { message: "bad city" } }, "invalid_arguments", "bad city"],
  [403, { message: "no scope" }, "denied", "no scope"],
  [404, { title: "Not Found", detail: "no such city" }, "execution_failed", "Not Found: no such city"],
  [409, { errors: [{ message: "exists" }] }, "execution_failed", "exists"],
  [429, { error: "slow down" }, "rate_limited", "slow down"],
  [503, "busy", "unavailable", "busy"],
])("status %i is a typed error with the server's own words", async (status, body, code, words) => {
  await using server = await startRecordingServer((_, response) =>
    json(response, body, { status, "retry-after": "7" }),
  );
  await using rest = await startTestRestTools(
    { tools: { x: { url: `${server.url}/x`, method: "POST" } } },
    { ports: [server.port] },
  );
  const failure = await rest.caller.call("rest__x", {}).catch((error: unknown) => error);

  expect(failure).toMatchObject({
    code,
    message: expect.stringContaining(words),
    details: { status },
    trust: { level: "untrusted" },
  });
  if (status === 429) expect(failure).toMatchObject({ retryAfterMs: 7_000 });
});

test("a failure of the server after a request with effects leaves the outcome unknown, of a read it is worth another try", async () => {
  await using server = await startRecordingServer((_, response) => json(response, {}, { status: 500 }));
  const tools = { read: { url: `${server.url}/x` }, write: { url: `${server.url}/x`, method: "POST" } };
  await using rest = await startTestRestTools({ tools }, { ports: [server.port] });
  const codeOf = (name: string) => rest.caller.call(name, {}).catch(({ code }: { readonly code: string }) => code);

  expect([await codeOf("rest__read"), await codeOf("rest__write")]).toEqual(["unavailable", "outcome_unknown"]);
});

test("a GET is read-only and others are not; the header of the file has one key for a call, and another for another caller", async () => {
  await using server = await startRecordingServer();
  const tools = {
    read: { url: `${server.url}/x` },
    pay: { url: `${server.url}/x`, method: "POST", idempotencyKey: "Idempotency-Key" },
  };
  const keys: unknown[] = [];
  for (const agent of ["one", "two"]) {
    await using rest = await startTestRestTools({ tools }, { agent, ports: [server.port] });
    expect([rest.caller.tools.get("rest__read")?.readOnly, rest.caller.tools.get("rest__pay")?.readOnly]).toEqual([
      true,
      false,
    ]);
    await rest.caller.call("rest__pay", {}, { toolCallId: "the-same" });
    keys.push(server.take()[0]?.headers["idempotency-key"]);
  }
  expect(keys[0]).toMatch(/^[\w-]{43}$/);
  expect(keys[1]).not.toBe(keys[0]);
});

test("private addresses are reached only where the operator lists them", async () => {
  await using server = await startRecordingServer();
  await using rest = await startTestRestTools({ tools: { x: { url: `${server.url}/x` } } });

  await expect(rest.caller.call("rest__x", {})).rejects.toMatchObject({
    code: "denied",
    message: expect.stringContaining("allows more (ALLOW_ADDRESSES)."),
  });
  expect(server.requests).toEqual([]);
});

test("a changed file counts at once, and one with faults changes nothing", async () => {
  await using server = await startRecordingServer();
  await using rest = await startTestRestTools({ tools: { a: { url: `${server.url}/a` } } }, { ports: [server.port] });
  rest.folder.write("rest.json", { tools: { a: { url: "nonsense" } } });
  rest.folder.write("rest.json", { tools: { b: { url: `${server.url}/b` } } });

  await expect.poll(rest.tools, { timeout: 10_000 }).toEqual(["rest__b"]);
});
