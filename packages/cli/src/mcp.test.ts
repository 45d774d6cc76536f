import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { faultServer, ownVirtualHost, rawServer, startOwnRedis, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { runCli, runHere, startUp } from "./test-cli.ts";

/** A file with one server that works and one that does not. */
function writeServers(folder: string): string {
  const file = join(folder, "mcp.json");
  writeFileSync(file, JSON.stringify({ mcpServers: { works: faultServer(), fails: faultServer("exit-at-start") } }));
  return file;
}

test("call and tools start the servers of --mcp-config when nothing runs, and say which is not there", {
  timeout: 60_000,
}, async () => {
  using folder = temporaryFolder();
  const file = writeServers(folder.path);
  const called = await runCli(["call", "works__echo", '{"a":1}', "--mcp-config", file], { folder: folder.path });
  expect([called.code, called.stdout]).toEqual([0, '{"a":1}\n']);
  expect(called.stderr).toMatch(/the MCP server "fails" is not there: it cannot be connected/);
  const listed = await runCli(["tools"], { folder: folder.path, env: { MCP_CONFIG: file } });
  expect(listed.stdout).toMatch(/^works__echo /m);
  expect(
    await runCli(["tools", "--mcp-config", join(folder.path, "missing.json")], { folder: folder.path }),
  ).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("ENOENT"),
  });
});

test("up starts the servers, and mcp ls says how each stands", { timeout: 120_000 }, async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };
  await using up = await startUp(options, ["--mcp-config", writeServers(folder.path)]);
  await expect
    .poll(async () => (await runHere(["mcp", "ls"], options)).stdout, { timeout: 20_000, interval: 200 })
    .toMatch(/^works +ready +stdio +2025-11-25 +\d+ tools$/m);
  await expect
    .poll(async () => await runHere(["mcp", "ls"], options), { timeout: 20_000, interval: 200 })
    .toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^fails +(failing|broken|connecting) .*\n(?: .*\n)*.*refusing to start/m),
    });
  const doctor = await runHere(["doctor"], options);
  expect([doctor.code, doctor.stdout]).toEqual([
    1,
    expect.stringMatching(
      /^broken +MCP servers +1 of 2 .*\nbroken +MCP server +"fails" has failed .*: it cannot be connected: .*exit code 2$/m,
    ),
  ]);
  expect((await runHere(["call", "works__echo", "b:=2"], options)).stdout).toBe('{"b":2}\n');
  const off = JSON.parse((await runHere(["call", "web_search", "query=x", "--json"], options)).stdout);
  expect(off).toMatchObject({
    isRetryable: false,
    message: expect.stringContaining("it is off. It needs a key of the Brave Search API"),
  });
  const invoke = ["call", "mcp_invoke_tool", '{"server_name":"works","tool_name":"echo"}'];
  await expect.poll(async () => (await runHere(invoke, options)).stdout, { timeout: 20_000 }).toBe("{}\n");
  const answer = await fetch(`${up.url}/v1/tools/works__echo/invoke`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"c":3}',
  });
  expect(await answer.json()).toMatchObject({ content: '{"c":3}', trust: { level: "untrusted", origin: "mcp:works" } });
  expect((await fetch(`${up.url}/operator/mcp`)).status).toBe(401); // only the socket tells without a token
});

test("over a broker, tools and call know the tools for MCP servers, and say of what never comes that it does not", {
  timeout: 60_000,
}, async () => {
  using folder = temporaryFolder();
  await using host = await ownVirtualHost();
  const options = { folder: folder.path };
  await using _up = await startUp(options, [
    "--only",
    "mcp-bridge,knowledge-tools,gateway",
    "--bus",
    host.url,
    "--mcp-config",
    writeServers(folder.path),
  ]);
  const run = (...args: string[]) => runHere([...args, "--bus", host.url], options);
  expect((await run("tools")).stdout).toMatch(/^mcp_list_services /m);
  await expect
    .poll(async () => (await run("call", "mcp_list_services")).stdout, { timeout: 20_000 })
    .toContain("works");
  expect(await run("call", "mcp_invoke_tool", '{"server_name":"works","tool_name":"echo"}')).toMatchObject({
    code: 0,
    stdout: "{}\n",
  });
  for (const name of ["search", "spawn_wisps", "wisp__digest", "mcp_register_server"]) {
    const { code, stdout } = await run("call", name, "--json");
    expect([code, JSON.parse(stdout)], name).toMatchObject([1, { code: "unavailable", isRetryable: false }]);
  }
});

test("mcp ls names the replica that has a server with state", { timeout: 120_000 }, async () => {
  using folder = temporaryFolder();
  await using redis = await startOwnRedis();
  const file = join(folder.path, "mcp.json");
  writeFileSync(
    file,
    JSON.stringify({ mcpServers: { keeps: { ...faultServer(), stateful: true }, other: faultServer() } }),
  );
  const options = { folder: folder.path, env: { REDIS_URL: redis.url } };
  await using _up = await startUp(options, ["--mcp-config", file]);
  const listed = async () => (await runHere(["mcp", "ls"], options)).stdout;
  await expect
    .poll(listed, { timeout: 20_000, interval: 200 })
    .toMatch(/^keeps +ready .* tools, at the replica \S+-[0-9a-f]{12}, this one\nother +ready .* tools$/m);
});

test("mcp ls says why a program has ended, at the end of what it said, and which tools are left out and why", {
  timeout: 60_000,
}, async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "mcp.json");
  const script =
    "for (let i = 0; i < 300; i++) console.error('  at frame ' + i + ', in a file with a long name'); console.error('TypeError: the cause'); process.exitCode = 1"; // process.exit would not wait for what is still to be written
  const tools = [
    { name: "good", inputSchema: { type: "object" } },
    { name: "bad\u001b[2J", inputSchema: null },
    { name: "nameless", description: null },
  ];
  writeFileSync(
    file,
    JSON.stringify({
      mcpServers: {
        fails: { command: process.execPath, args: ["-e", script] },
        wrong: rawServer(folder.path, { tools }),
      },
    }),
  );
  const { code, stdout } = await runHere(["mcp", "ls", "--mcp-config", file], { folder: folder.path });
  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(
      /^fails .*\n +it cannot be connected: .*exit code 1\n(?: .*frame.*\n)+ +TypeError: the cause$/m,
    ),
  ]);
  expect(stdout).toMatch(
    /^wrong +ready .* 1 tools, 2 left out\n +left out: "bad\\u001b\[2J": inputSchema: expected object, received undefined\n +left out: "nameless": inputSchema: expected object/m,
  );
});

test("mcp ls tries the servers of a file, and says what is missing without any", { timeout: 60_000 }, async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };
  const tried = await runHere(["mcp", "ls", "--mcp-config", writeServers(folder.path), "--json"], options);
  expect(JSON.parse(tried.stdout)).toMatchObject([
    { name: "works", state: "ready" },
    { name: "fails", lastFailure: expect.stringContaining("exit code 2") },
  ]);
  expect(await runHere(["mcp", "ls"], options)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("There are no MCP servers"),
  });
  const none = folder.write("none.json", '{ // of another editor\n"context_servers": {} }');
  expect(await runHere(["mcp", "ls", "--mcp-config", none], options)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/none\.json names none that is switched on\n.* it has context_servers$/m),
  });
});

test("mcp approve shows what has changed, approves what it has shown, and the tool can be called again", {
  timeout: 240_000,
}, async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };
  const file = join(folder.path, "mcp.json");
  writeFileSync(file, JSON.stringify({ mcpServers: { works: faultServer() } }));
  {
    await using _up = await startUp(options, ["--mcp-config", file]);
    await expect
      .poll(
        async () =>
          (await runHere(["call", "works__redefine", '{"tool":"echo","description":"Now\\u001b[2J else"}'], options))
            .code,
        {
          timeout: 30_000,
          interval: 200,
        },
      )
      .toBe(0);
    await expect
      .poll(async () => (await runHere(["mcp", "approve"], options)).stdout, { timeout: 20_000, interval: 200 })
      .toContain("echo");
    expect((await runHere(["mcp", "ls"], options)).stdout).toContain("1 wait for an approval");
    expect((await runHere(["doctor"], options)).stdout).toMatch(
      /^ok +MCP servers +1 of 1 .*\noff \(optional\) held tools +1 of "works", .*: rockbot mcp approve$/m,
    );
    expect((await runHere(["tools"], options)).stderr).toContain(
      'works__echo. Held until an operator approves: rockbot mcp approve "works"',
    );
    const shown = await runHere(["mcp", "approve", "works"], options);
    expect(shown.stdout).toMatch(
      /^works: the tool "echo" has changed since it was approved; held since .*\n {2}description: was "The fault echo\.", is "Now\[2J else"$/m,
    );
    expect([shown.code, shown.stderr]).toEqual([1, expect.stringContaining("Nothing is approved. Add --yes")]);
    expect(await runHere(["mcp", "approve", "works", "gone"], options)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Nothing of"),
    });
    expect(await runHere(["mcp", "approve", "works", "hang", "--yes"], options)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^works: the tool "hang" is offered as it was first seen, .*; seen since /),
      stderr: expect.stringContaining("approved works: hang"),
    });
    expect(await runHere(["mcp", "approve", "WORKS", "echo", "--yes"], options)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("approved works: echo"),
    });
    await expect
      .poll(async () => (await runHere(["call", "works__echo", '{"a":1}'], options)).stdout, {
        timeout: 20_000,
        interval: 200,
      })
      .toBe('{"a":1}\n');
  }
  // With nothing running it is read from the file beside the servers': there, another definition is pinned than the
  // server has.
  const called = await runHere(["call", "works__echo", "{}", "--mcp-config", file], options);
  expect(called.code).not.toBe(0);
  expect(await runHere(["mcp", "approve", "works", "--yes", "--mcp-config", file], options)).toMatchObject({ code: 0 });
  expect(await runHere(["call", "works__echo", '{"b":2}', "--mcp-config", file], options)).toMatchObject({
    code: 0,
    stdout: '{"b":2}\n',
  });
});

test("mcp approve says where it would look when there is nothing", { timeout: 60_000 }, async () => {
  using folder = temporaryFolder();
  expect(await runHere(["mcp", "approve"], { folder: folder.path })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("--redis"),
  });
});
