import { redact } from "@rockbot/base/redaction";
import { ConfigError } from "@rockbot/process/config";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { variable } from "../test-bridge.ts";
import { readServerFile, readServers } from "./read-servers.ts";

function read(content: object | string, env: Record<string, string> = {}) {
  using folder = temporaryFolder();
  return readServers(folder.write("mcp.json", content), env);
}

function faultsOf(content: object | string, env: Record<string, string> = {}): string[] {
  try {
    read(content, env);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [...error.faults];
  }
}

test("the common form and the one of the .NET original are read, with all that other programs write beside them", () => {
  const servers = read(
    {
      globalShortcut: "none of our business",
      mcpServers: {
        files: {
          command: "npx",
          args: ["-y", "server"],
          env: { KEY: variable("API_KEY") },
          toolsAllowed: ["read_*"],
          deniedTools: ["read_secret"],
          queue: { concurrency: 2 },
        },
        "old one": {
          type: "sse",
          url: `https://example.com/${variable("PLACE:-here")}/sse`,
          headers: { "x-key": variable("API_KEY") },
          isSse: true,
        },
        socket: { url: "wss://example.com/mcp" },
        any: { url: "https://example.com/mcp", requestTimeoutMs: 5 },
        off: { command: "x", enabled: false },
        "also-off": { command: "x", disabled: true },
      },
      Mcp: { Servers: [{ Name: "weather", Command: "uvx", Arguments: ["weather"], EnvironmentVariables: { A: "1" } }] },
    },
    { API_KEY: "the-key", PATH: "/bin", SECRET: "not theirs" },
  );
  expect(servers).toMatchObject([
    {
      name: "files",
      address: { type: "stdio", command: "npx", args: ["-y", "server"], env: { KEY: "the-key", PATH: "/bin" } },
      allowed: ["read_*"],
      denied: ["read_secret"],
      secrets: ["the-key"],
    },
    { name: "old one", address: { type: "sse", url: "https://example.com/here/sse", headers: { "x-key": "the-key" } } },
    { name: "socket", address: { type: "websocket" } },
    { name: "any", address: { type: "auto" }, requestTimeoutMs: 5 },
    { name: "weather", address: { type: "stdio", command: "uvx", args: ["weather"], env: { A: "1" } } },
  ]);
  expect(JSON.stringify(servers)).not.toContain("not theirs");
});

// Long because: it is a table of cases
test("what other programs know is taken, or named in a warning, and grants nothing", () => {
  using folder = temporaryFolder();
  folder.write("servers.env", "FILE_KEY=of-the-file-0\nBOTH=file\n");
  const theirs = {
    autoApprove: ["*"],
    alwaysAllow: ["x"],
    trust: true,
    timeout: 60,
    gallery: "x",
    oauth: {},
    oauth2: {},
    commands: [],
    argument: 1,
  };
  const entry = {
    command: "x",
    envFile: "servers.env",
    env: { BOTH: "env", KEY: `$\{env:API_KEY}` },
    disabledTools: ["rm"],
    excludeTools: ["mv"],
    ...theirs,
  };
  const remote = {
    type: "streamableHttp",
    transport: "http",
    httpUrl: "https://example.com/mcp",
    includeTools: ["ls"],
    enabledTools: ["cat"],
  };
  const file = folder.write("mcp.json", {
    inputs: [],
    servers: { files: entry, remote, off: { command: "x", disabled: true } },
  });

  const { servers, warnings } = readServerFile(file, { API_KEY: "the-key-0" });
  expect(servers).toMatchObject([
    {
      name: "files",
      address: { env: { FILE_KEY: "of-the-file-0", BOTH: "env", KEY: "the-key-0" } },
      denied: ["mv", "rm"],
    },
    { name: "remote", address: { type: "http", url: "https://example.com/mcp" }, allowed: ["ls", "cat"] },
  ]);
  expect([servers[0]?.allowed, servers[0]?.trustsAnnotations, servers[0]?.pin]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(redact("of-the-file-0")).toBe("[redacted]");
  const words = [
    'autoApprove" grants nothing',
    'alwaysAllow" grants',
    'trust" grants',
    'timeout" has no effect.*requestTimeoutMs',
    'gallery" is none of our',
  ];
  words.push(
    'oauth" has no effect. Write auth',
    'oauth2" has no effect',
    'commands" is none of our',
    'argument" is none of our',
  );
  expect(warnings).toEqual(words.map((each) => expect.stringMatching(new RegExp(`^servers\\.files: "${each}`))));
  expect(readServerFile(folder.write("zed.json", { context_servers: {} }), {}).warnings).toEqual([
    expect.stringMatching(/no servers.*context_servers/),
  ]);
  const top = { servers: {}, mcpserver: {}, theme: "dark", defaults: { requestTimeoutMs: 5_000, other: 1 } };
  const ofTop = [
    /^defaults: "requestTimeoutMs" .*Write toolTimeout/,
    /^defaults: "other" is none/,
    /^"mcpserver" has no effect: did you mean "mcpServers"/,
  ];
  expect(readServerFile(folder.write("top.json", top), {}).warnings).toEqual(
    ofTop.map((each) => expect.stringMatching(each)),
  );
  const missing = {
    a: { command: "x", envFile: "none.env" },
    b: { url: "https://example.com", envFile: "x" },
    c: { command: "x", args: [`$\{input:key}`] },
  };
  expect(faultsOf({ servers: missing })).toEqual([
    expect.stringMatching(/servers\.a: envFile: .*ENOENT/),
    expect.stringMatching(/servers\.b: .*"envFile".*belong to a server with a "command"/),
    expect.stringMatching(/servers\.c: args\.0: \$\{input:…} asks a person/),
  ]);
});

test("all faults of the form are told at once, and no value", () => {
  const faults = faultsOf({
    mcpServers: {
      a: { command: 7 },
      b: { url: "https://user:canary@example.com", type: "carrier-pigeon", env: { KEY: 47_110_815 } },
    },
  });
  expect(faults).toEqual([
    expect.stringMatching(/mcpServers\.a\.command/),
    expect.stringMatching(/mcpServers\.b\.type/),
    expect.stringMatching(/mcpServers\.b\.env\.KEY/),
  ]);
  expect(faults.join()).not.toMatch(/canary|47110815|pigeon/);
});

test("what the schema cannot say is told as well", () => {
  const faults = faultsOf({
    mcpServers: {
      none: {},
      both: { command: "x", url: "https://example.com" },
      twice: { command: "x" },
      TWICE: { command: "x" },
      missing: { url: "https://example.com", headers: { authorization: `Bearer ${variable("NO_SUCH_VARIABLE")}` } },
      oauth: { url: "https://example.com", auth: { type: "client_credentials", clientId: "me" } },
      socket: { type: "http", url: "ws://example.com" },
      slip: { command: "x", toolsAlowed: [], denyTools: [] },
      names: { url: "https://a.example", httpUrl: "https://b.example", type: "http", transport: "sse" },
    },
    defaults: { toolTimeuot: 5 },
  });
  expect(faults.map((fault) => fault.replace(/^.*?(mcpServers\.|(?=defaults))/, ""))).toEqual([
    expect.stringMatching(/^defaults: unknown property "toolTimeuot": did you mean "toolTimeout"/),
    expect.stringMatching(/^none: it needs "command"/),
    expect.stringMatching(/^both: it has both/),
    expect.stringMatching(/^TWICE: "TWICE" is named already, as "twice"/),
    expect.stringMatching(/^missing: headers\.authorization: the variable NO_SUCH_VARIABLE is not set/),
    expect.stringMatching(/^oauth: auth\.clientSecret/),
    expect.stringMatching(/^oauth: auth\.issuer/),
    expect.stringMatching(/^socket: url: ws:\/\//),
    expect.stringMatching(/^slip: unknown property "toolsAlowed": did you mean "toolsAllowed"/),
    expect.stringMatching(/^slip: unknown property "denyTools": did you mean "deniedTools"/),
    expect.stringMatching(/^names: "url" and "httpUrl" are names for the same, and differ/),
    expect.stringMatching(/^names: "type" and "transport" are names for the same, and differ/),
  ]);
});

test("limits, state, and how a program runs are read, and what makes no sense is refused", () => {
  const program = { command: "x", uid: 1_000, gid: 1_001, cwd: "/srv", memoryMib: 512, outputMib: 2 };
  const [files, web] = read(
    {
      mcpServers: {
        files: { ...program, stateful: true, queue: "disk" },
        web: { url: "https://example.com", cache: 300_000, shared: true, queue: { concurrency: 2 } },
      },
      queues: { disk: { concurrent: 3 }, other: { concurrency: 1, waiting: 0 } },
    },
    { HOME: "/root", PATH: "/bin" },
  );
  expect(files).toMatchObject({ isStateful: true, queueName: "disk", queue: { concurrency: 3 } });
  expect(files?.address).toMatchObject({
    uid: 1_000,
    gid: 1_001,
    cwd: "/srv",
    memoryMib: 512,
    maxMessageBytes: 2 * 1024 * 1024,
    env: { PATH: "/bin" },
  });
  expect(files?.address).not.toHaveProperty("env.HOME"); // it is another user's
  expect(web).toMatchObject({ cacheMs: 300_000, queue: { concurrency: 2 } });
  expect(web?.queueName).toBeUndefined();
  const faults = faultsOf({
    mcpServers: {
      a: { url: "https://example.com", memoryMib: 512, shared: false },
      b: { command: "x", queue: "dsik", gid: 5 },
    },
    queues: { disk: { concurrency: 3, concurrent: 3 }, none: {} },
  });
  expect(faults.map((fault) => fault.replace(/^.*?: /, ""))).toEqual([
    expect.stringMatching(/^queues\.disk: it has both/),
    expect.stringMatching(/^queues\.none: it needs "concurrency"/),
    expect.stringMatching(/^mcpServers\.a: .*"memoryMib".* belong to a server with a "command"/),
    expect.stringMatching(/^mcpServers\.a: shared: all callers share one connection/),
    expect.stringMatching(/^mcpServers\.b: gid: a group without "uid"/),
    expect.stringMatching(/^mcpServers\.b: queue: there is no "dsik" in queues/),
  ]);
});

test("what is likely a secret becomes one of the process, and a folder does not", () => {
  read(
    {
      mcpServers: {
        program: {
          command: "x",
          args: ["--key", variable("ARG_KEY"), variable("HOME")],
          env: { MODE: "production", TOKEN: "env-canary-1" },
        },
        remote: {
          url: "https://example.com",
          headers: { Authorization: "Bearer header-canary-2", accept: "application/json" },
        },
        oauth: {
          url: "https://example.com",
          auth: {
            type: "client_credentials",
            clientId: "me",
            clientSecret: "oauth-canary-3",
            issuer: "https://issuer.example",
          },
        },
      },
    },
    { ARG_KEY: "argument-canary-4", HOME: "/srv/files" },
  );
  expect(redact("env-canary-1 header-canary-2 oauth-canary-3 argument-canary-4")).toBe(
    Array(4).fill("[redacted]").join(" "),
  );
  expect(redact("production application/json /srv/files")).toBe("production application/json /srv/files");
});

test("no server has a name under which operations of OpenAPI documents are pinned", () => {
  for (const name of ["Rest:shop", "A2A:research"])
    expect(faultsOf({ mcpServers: { [name]: { command: "x" } } })).toEqual([
      expect.stringContaining('names that begin with "rest:" or "a2a:"'),
    ]);
});
