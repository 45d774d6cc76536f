import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { faultServer, ownVirtualHost, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { ownSocket } from "./runtime/own-socket.ts";
import { runHere, startUp } from "./test-cli.ts";

test("open gives a link that logs in once, as the operator of this machine, and no log has its code", {
  timeout: 60_000,
}, async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };
  await using up = await startUp(options, ["--only", "web-tools,gateway"]);
  const { code, stdout } = await runHere(["open", "--print"], options);
  const [, page, loginCode = ""] = /^(http:\/\/127\.0\.0\.1:\d+\/console\/)#code=([\w-]{22})\n$/.exec(stdout) ?? [];
  const login = () =>
    fetch(`${page}login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ code: loginCode }),
    });
  const answer = await login();

  expect([code, page]).toEqual([0, `${up.url}/console/`]);
  expect(await answer.json()).toMatchObject({ operator: { name: "local" } });
  expect((await login()).status).toBe(401);
  expect((await fetch(`${up.url}/operator/console/codes`, { method: "POST" })).status).toBe(401);
  expect(up.stdout() + up.stderr()).not.toContain(loginCode);
});

test("open says in words that nothing runs, and that what runs has no console", { timeout: 60_000 }, async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };
  const without = await runHere(["open", "--print"], options);
  expect([without.code, without.stderr]).toEqual([1, expect.stringMatching(/no "rockbot up" runs here/)]);
  await using _up = await startUp({ ...options, env: { SERVE_CONSOLE: "false" } }, ["--only", "gateway"]);
  const off = await runHere(["open", "--print"], options);
  expect([off.code, off.stderr]).toEqual([1, expect.stringMatching(/the running "rockbot up" has none/)]);
});

test("commands of operators reach an up over a broker, also while another one runs, and find one audit log", {
  timeout: 120_000,
}, async () => {
  using folder = temporaryFolder();
  await using host = await ownVirtualHost();
  const env = { MCP_CONFIG: folder.write("mcp.json", { mcpServers: { peer: faultServer() } }) };
  const options = { folder: folder.path, env: { ...env, AUDIT_FILE: `${folder.path}/audit.jsonl` } };
  const here = ["--only", "web-tools,mcp-bridge,gateway", "--bus", host.url];
  await using up = await startUp(options, here);
  await using _other = await startUp({ folder: folder.path }, ["--only", "gateway", "--bus", host.url]);
  const run = (...args: string[]) => runHere(args, { folder: folder.path });

  expect((await run("open", "--print")).stdout).toContain(`${up.url}/console/#code=`);
  expect(await run("mcp", "ls")).toMatchObject({ code: 0, stderr: expect.stringContaining("1 of 1 MCP servers") });
  expect((await run("dlq", "list")).code).toBe(0);
  await fetch(`${up.url}/v1/tools/html_to_text/invoke`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"html":"<p>Hello"}',
  });
  expect((await run("calls")).stdout).toContain("html_to_text");

  const socketPath = ownSocket({ ROCKBOT_RUNTIME_DIR: join(folder.path, "run") }, "broker").path;
  const asked = get({ socketPath, path: "/operator/audit?caller=gateway", agent: false });
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  expect(await json(answer)).toMatchObject({ lines: [{ fields: { tool: "html_to_text" } }], problems: [] });
});

test("the overview has the same figures of calls by the socket as by the gateway", { timeout: 60_000 }, async () => {
  using folder = temporaryFolder();
  await using up = await startUp({ folder: folder.path }, ["--only", "web-tools,gateway"]);
  await fetch(`${up.url}/v1/tools/html_to_text/invoke`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"html":"<p>Hello"}',
  });
  const { path: socketPath } = ownSocket({ ROCKBOT_RUNTIME_DIR: join(folder.path, "run") });
  const ended = async () => {
    const [answer] = (await once(get({ socketPath, path: "/operator/overview", agent: false }), "response")) as [
      IncomingMessage,
    ];
    return ((await json(answer)) as { readonly calls: { readonly ended: number } | null }).calls?.ended;
  };
  await expect.poll(ended, { timeout: 20_000 }).toBe(1);
});
