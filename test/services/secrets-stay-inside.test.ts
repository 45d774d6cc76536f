import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { createEnvelope, encodeMessage, messages } from "@rockbot/contracts";
import { verifyAudit } from "@rockbot/records/audit";
import {
  badPages,
  freePort,
  ownVirtualHost,
  type Page,
  startFakeBrave,
  startOtlpCollector,
  startPageServer,
} from "@rockbot/testing";
import { expect, test } from "vitest";
import { type Canary, canary, marksIn } from "./canaries.ts";
import { startProgram, startService } from "./start-service.ts";

const WAIT = { timeout: 60_000, interval: 100 };
/** A command that cannot reach its broker gives up after ten seconds, on a machine that does nothing else. */
const COMMAND_MS = 40_000;

/** What is secret, by where it is planted. */
const secrets = {
  webToolsBroker: canary("A"),
  gatewayBroker: canary("B"),
  gatewayToken: canary("C"),
  searchKeyFile: canary("D"),
  collectorHeader: canary("E"),
  unusedVariable: canary("F"),
  refusedConfig: canary("G"),
  commandsBroker: canary("H"),
  redis: canary("I"),
  clientsToken: canary("J"),
  urlPassword: canary("K"),
  urlQuery: canary("L"),
  cookie: canary("M"),
  configFile: canary("N"),
} satisfies Record<string, Canary>;
const all = Object.values(secrets);

test("what looks for secrets finds them in each form", () => {
  const { secret, mark } = canary("Z");
  const forms = [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(JSON.stringify(secret)),
    new URLSearchParams({ a: secret }).toString(),
  ];
  for (const around of ["", "a", "ab", "abc"])
    forms.push(
      Buffer.from(`${around}${secret}`).toString("base64"),
      Buffer.from(`${around}${secret}`).toString("base64url"),
    );

  for (const form of forms) expect(marksIn(`x ${form} y`, [{ secret, mark, inUrl: "" }])).toEqual([mark]);
  expect(marksIn("nothing", all)).toEqual([]);
});

// Long because: one system fails in more than forty ways, one after the other
test("no secret leaves a process, on any of more than forty ways to fail, with all that can be logged being logged", {
  timeout: 360_000,
}, async () => {
  await using broker = await ownVirtualHost();
  await using collector = await startOtlpCollector();
  await using brave = await startFakeBrave({ apiKey: secrets.searchKeyFile.secret });
  await using pages = await startPageServer(pagesWith(secrets));
  const folder = mkdtempSync(join(tmpdir(), "rockbot-secrets-"));
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => rmSync(folder, { recursive: true, force: true }));
  const [keyFile, auditFile] = [join(folder, "key"), join(folder, "audit.jsonl")];
  writeFileSync(keyFile, `${secrets.searchKeyFile.secret}\n`);
  await broker.importDefinitions({
    users: Object.entries({ web: secrets.webToolsBroker, gate: secrets.gatewayBroker }).map(([name, { secret }]) => ({
      name,
      password: secret,
      tags: "",
    })),
    permissions: ["web", "gate"].map((user) => ({
      user,
      vhost: broker.name,
      configure: ".*",
      write: ".*",
      read: ".*",
    })),
  });
  const urlOf = (user: string, password: string): string =>
    Object.assign(new URL(broker.url), { username: user, password: encodeURIComponent(password) }).href;
  const env = {
    ...collector.env,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${secrets.collectorHeader.inUrl}`,
    AWS_SECRET_ACCESS_KEY: secrets.unusedVariable.secret,
    LOG_LEVEL: "debug",
  };
  const webToolsEnv = {
    ...env,
    BUS_URL: urlOf("web", secrets.webToolsBroker.secret),
    BRAVE_API_KEY_FILE: keyFile,
    BRAVE_BASE_URL: brave.url,
    ALLOW_ADDRESSES: `127.0.0.1:${pages.port}`,
    AUDIT_FILE: auditFile,
    IDLE_TIMEOUT_MS: "500",
  };
  const gatewayEnv = {
    ...env,
    BUS_URL: urlOf("gate", secrets.gatewayBroker.secret),
    GATEWAY_TOKEN: secrets.gatewayToken.secret,
    PORT: "0",
  };
  await using webTools = await startService("web-tools", webToolsEnv);
  await using gateway = await startService("gateway", gatewayEnv);
  const port = Number(/http:\/\/127\.0\.0\.1:(\d+)/.exec(gateway.stdout())?.[1]);
  const outputs: string[] = [];
  let failures = 0;

  async function send(method: string, path: string, headers: Record<string, string> = {}, body = ""): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const request = httpRequest({ host: "127.0.0.1", port, method, path, headers, agent: false }, (response) => {
      void readAll(response).then(
        (said) => resolve(`${response.statusCode} ${JSON.stringify(response.headers)} ${said}`),
        reject,
      );
    });
    request.on("error", reject);
    request.end(body);
    return promise;
  }
  const token = { authorization: `Bearer ${secrets.gatewayToken.secret}` };
  const json = { ...token, "content-type": "application/json" };
  const call = (tool: string, args: object, headers: Record<string, string> = {}): Promise<string> =>
    send(
      "POST",
      `/v1/tools/${tool}/invoke`,
      { ...json, "rockbot-timeout-ms": "20000", ...headers },
      JSON.stringify(args),
    );
  const browse = (url: string): Promise<string> => call("web_browse", { url });
  const host = `127.0.0.1:${pages.port}`;

  // 1. At the front door.
  const refused = [
    send("GET", "/v1/tools", { authorization: `Bearer ${secrets.clientsToken.secret}` }),
    send("GET", "/v1/tools", {
      authorization: `Basic ${Buffer.from(`user:${secrets.clientsToken.secret}`).toString("base64")}`,
    }),
    send("GET", `/v1/tools?access_token=${secrets.gatewayToken.inUrl}`),
    send("GET", `/${secrets.gatewayToken.inUrl}`, token),
    send("GET", "/v1/tools", { ...token, host: "evil.example" }),
    send("GET", "/v1/tools", { ...token, origin: "null" }),
    send("DELETE", "/v1/tools", token),
    send("POST", "/v1/tools/web_browse/invoke", json, `{"url":"${secrets.gatewayToken.inUrl}`),
    send("POST", "/v1/tools/web_browse/invoke", json, `{${JSON.stringify(secrets.gatewayToken.secret)}:1,"url":2}`),
    send("POST", "/v1/tools/web_browse/invoke", { ...token, "content-type": "text/plain" }, "x"),
    send("POST", "/v1/tools/web_browse/invoke", json, "x".repeat(1_100_000)),
    call(`no_${secrets.gatewayToken.inUrl}`, {}),
    call("web_browse", { url: "http://x.test/" }, { "rockbot-timeout-ms": "never" }),
    send("GET", "/v1/guides/none", token),
    send("GET", "/v1/calls/none", token),
  ];
  // 2. Pages.
  const pageFailures = [
    browse(`http://user:${secrets.urlPassword.inUrl}@${host}/gone?api_key=${secrets.urlQuery.inUrl}`),
    browse(`http://${host}/gone?api_key=${secrets.urlQuery.inUrl}`),
    browse(`http://${host}/broken?api_key=${secrets.urlQuery.inUrl}`),
    browse(`http://${host}/no-http?api_key=${secrets.urlQuery.inUrl}`),
    browse(`http://${host}/stalled?api_key=${secrets.urlQuery.inUrl}`),
    browse(`http://${host}/failing?api_key=${secrets.urlQuery.inUrl}`),
    browse(`http://${host}/to-password`),
    browse(`http://${host}/to-private`),
    browse(`http://${host}/to-itself`),
    browse(`http://127.0.0.1:9/?api_key=${secrets.urlQuery.inUrl}`),
    browse(`http://no-such-host.invalid/?api_key=${secrets.urlQuery.inUrl}`),
    browse(`ftp://user:${secrets.urlPassword.inUrl}@${host}/`),
  ];
  for (const answer of await Promise.all([...refused, ...pageFailures])) {
    outputs.push(answer);
    if (/^[45]/.test(answer)) failures++;
  }

  // 3. The search service, which says the key back to us in many ways.
  const { secret: key } = secrets.searchKeyFile;
  const said = (detail: string) => ({ kind: "status", status: 422, code: "VALIDATION", detail }) as const;
  brave.faults.push(
    { kind: "status", status: 401, code: "UNAUTHORIZED", detail: key },
    said(`you sent ${key}`),
    said(`you sent ${Buffer.from(`key:${key}`).toString("base64")}`),
    said(`you sent ${encodeURIComponent(key)}`),
    said(JSON.stringify({ key })),
    { kind: "status", status: 429, code: "RATE_LIMITED", detail: key, headers: { "x-key": "1" } },
    { kind: "status", status: 500, code: "INTERNAL", detail: key },
    { kind: "redirect", location: `http://${host}/?key=${encodeURIComponent(key)}` },
    { kind: "raw", body: `<html>${key}`, contentType: "text/html" },
  );
  while (brave.faults.length > 0) {
    outputs.push(await call("web_search", { query: "anything" }));
    failures++;
  }
  // Not a failure, and the worst: a result that says it.
  brave.results = [
    {
      title: `Key ${key}`,
      url: `https://example.com/?k=${encodeURIComponent(key)}`,
      description: `It is ${key}, ${Buffer.from(key).toString("base64")}`,
    },
  ];
  const echoed = await call("web_search", { query: "anything" });
  outputs.push(echoed);

  // 4. Messages that cannot be handled, and what an operator is shown of them.
  {
    await using bus = await connectBus(broker.url);
    const publish = (body: Uint8Array, fields: object) =>
      bus.publish(
        createEnvelope({
          topic: "tool.invoke",
          type: messages.ToolInvokeRequest.type,
          source: "stranger",
          body,
          ...fields,
        }),
      );
    await publish(Buffer.from("no JSON"), { replyTo: "no.topic.for.results" });
    await publish(
      encodeMessage("ToolInvokeRequest", { toolCallId: "a", toolName: "web_browse", arguments: "{", sessionId: null }),
      {
        replyTo: "user.message",
      },
    );
    await publish(Buffer.from("{}"), { type: "Other.Type" });
    await expect.poll(async () => (await bus.inspect("web-tools", "parked"))?.messages, WAIT).toBe(2);
    failures += 3;
  }

  // 5. Processes that do not get up, and commands that cannot do what they are told. All at once: each waits for what
  // does not come.
  const nowhere = `127.0.0.1:${await freePort()}`;
  const commandUrl = `amqp://user:${secrets.commandsBroker.inUrl}@`;
  const configFile = join(folder, "config.yaml");
  writeFileSync(
    configFile,
    `gatewayToken: [${secrets.configFile.mark}\n  busUrl: amqp://u:${secrets.configFile.inUrl}@x`,
  );
  const wrongFile = join(folder, "wrong.yaml");
  writeFileSync(
    wrongFile,
    JSON.stringify({
      gatewayToken: { a: secrets.configFile.secret },
      busUrl: `http://u:${secrets.configFile.inUrl}@x`,
      port: secrets.configFile.mark.length * 1e6,
    }),
  );
  const main = (service: string, more: Record<string, string>) =>
    startProgram("services/main.ts", { args: [service], env: { ...env, ...more } });
  const cli = (args: string[], more: Record<string, string> = {}) =>
    startProgram("packages/cli/src/main.ts", {
      args,
      env: { ...env, ROCKBOT_RUNTIME_DIR: join(folder, "run"), ...more },
    });
  const processes = [
    main("gateway", {
      BUS_URL: `amqp://user:${secrets.refusedConfig.inUrl}@host:no-port/`,
      GATEWAY_TOKEN: `${secrets.refusedConfig.secret} with a space`,
    }),
    main("gateway", { CONFIG_FILE: configFile }),
    main("gateway", { CONFIG_FILE: wrongFile }),
    main("web-tools", {
      BUS_URL: `${commandUrl}${nowhere}`,
      BRAVE_API_KEY: `${secrets.refusedConfig.secret}\n`,
      BRAVE_API_KEY_FILE: keyFile,
    }),
    main("web-tools", { BUS_URL: broker.url.replace(/:[^:@]+@/, `:${secrets.commandsBroker.inUrl}@`) }),
    main("gateway", { ...gatewayEnv, HOST: "127.0.0.1", PORT: String(port) }),
    cli([
      "call",
      "web_browse",
      `{"url":"http://user:${secrets.urlPassword.inUrl}@${host}/"}`,
      "--bus",
      broker.url.replace(/:[^:@]+@/, `:${secrets.commandsBroker.inUrl}@`),
    ]),
    cli(["dlq", "list", "--bus", `${commandUrl}${nowhere}`]),
    cli(["tools"], { ROCKBOT_BUS: `http://user:${secrets.commandsBroker.inUrl}@${nowhere}` }),
    cli(["calls", "--redis", `redis://user:${secrets.redis.inUrl}@${nowhere}`]),
    cli(["calls", "--redis", `http://user:${secrets.redis.inUrl}@${nowhere}`]),
    cli(["doctor", "--bus", `${commandUrl}${nowhere}`], { GATEWAY_TOKEN: secrets.gatewayToken.secret }),
    cli(["up", "--config", configFile]),
    cli(["dlq", "list", "web-tools", "--json", "--bus", urlOf("gate", secrets.gatewayBroker.secret)]),
  ];
  for (const running of processes) {
    const late = setTimeout(() => running.kill("SIGTERM"), COMMAND_MS);
    const code = await running.ended;
    clearTimeout(late);
    outputs.push(running.stdout(), running.stderr());
    if (code !== 0) failures++;
  }

  for (const running of [webTools, gateway]) {
    running.kill("SIGTERM");
    await running.ended;
    outputs.push(running.stdout(), running.stderr());
  }
  outputs.push(readFileSync(auditFile, "utf8"), collector.received());

  // The secrets were used, and were said to us: else it would be no wonder.
  expect(brave.requests[0]?.headers["x-subscription-token"]).toBe(key);
  expect(collector.requests()[0]?.headers["authorization"]).toBe(`Bearer ${secrets.collectorHeader.secret}`);
  expect(echoed).toMatch(/^200 .*Key \[redacted\]/s);
  expect(failures).toBeGreaterThanOrEqual(45);
  expect(collector.spans().length).toBeGreaterThan(50);
  expect(outputs.join("\n")).toContain('"level":"debug"');
  expect(await verifyAudit([auditFile])).toMatchObject({ faults: [] });
  const leaks = outputs
    .flatMap((output) => output.split("\n"))
    .flatMap((line) => marksIn(line, all).map((mark) => `${mark}: ${line.slice(0, 300)}`));
  expect(leaks).toEqual([]);
});

function pagesWith({ cookie, urlPassword, urlQuery }: typeof secrets): Readonly<Record<string, Page>> {
  return {
    "/gone": { status: 404, headers: { "set-cookie": `session=${cookie.mark}` }, body: `<h1>${cookie.mark}</h1>` },
    "/failing": { status: 500, headers: { "set-cookie": `session=${cookie.mark}` }, body: `<h1>${cookie.mark}</h1>` },
    // Of a page that breaks off later what came is an answer, and that has the caller's address as any.
    "/broken": ({ socket }) =>
      void socket.end("HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 50\r\n\r\n"),
    "/no-http": badPages.noHttp(),
    "/stalled": badPages.stalled(),
    "/to-password": badPages.redirect(`http://user:${urlPassword.inUrl}@127.0.0.1:9/?api_key=${urlQuery.inUrl}`),
    "/to-private": badPages.redirect(`http://169.254.169.254/?api_key=${urlQuery.inUrl}`),
    "/to-itself": badPages.redirect(`/to-itself?api_key=${urlQuery.inUrl}`),
  };
}
