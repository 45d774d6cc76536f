import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { createMemoryBus } from "@rockbot/bus";
import { freePort, missingNamespaces, ownVirtualHost, temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { ownSocket } from "./runtime/own-socket.ts";
import { serveSocket } from "./runtime/serve-socket.ts";
import { runCli, runHere, startCli, startPage, startUp } from "./test-cli.ts";

/** For a test of the socket or of a signal: half of what all services cost to start. */
const FEW = ["--only", "gateway,web-tools"];

test("--version prints the version, and --help the commands with examples", async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };

  expect(await runCli(["--version"], options)).toEqual({ code: 0, stdout: "0.1.0\n", stderr: "" });
  const { code, stdout } = await runCli(["--help"], options);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/up.*tools.*call.*guide.*doctor.*Examples:.*Exit code/s)]);
  for (const command of ["up", "tools", "call", "guide", "dlq", "doctor"]) {
    expect((await runHere([command, "--help"], options)).stdout).toContain("Examples:\n  rockbot");
  }
});

test.each([["--version"], ["call --help"]])("%s loads no service, no SDK and no adapter", async (line) => {
  using folder = temporaryFolder();
  const list = join(folder.path, "loaded");
  const hook = `import { registerHooks } from "node:module"; import { appendFileSync } from "node:fs"; registerHooks({ load(url, context, next) { appendFileSync(${JSON.stringify(list)}, url + "\\n"); return next(url, context); } });`;
  await runCli(line.split(" "), {
    folder: folder.path,
    env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` },
    isFromSources: true, // a bundle does not name what it holds
  });
  const loaded = readFileSync(list, "utf8");

  expect(loaded).toContain("commander");
  expect(loaded).not.toMatch(
    /opentelemetry|cheerio|hono|amqplib|undici|services\/(?!(index|define-service|state)\.ts)|packages\/(?!cli\/|base\/src\/(redaction\/|version\.ts))/,
  );
});

test.each([
  ["an unknown command", "cal", /Did you mean call/],
  ["an unknown option", "call x --jsn", /Did you mean --json/],
  ["no tool", "call", /missing required argument 'tool'/],
  [
    "arguments that are no JSON, and a time that is none",
    "call x {a --timeout soon",
    /the arguments: not valid JSON.*\n.*--help|--timeout: expected.*the arguments: not valid JSON/s,
  ],
  ["arguments that are no object", "call x [1]", /the arguments: expected a JSON object, got an array/],
  ["a bus that is none", "tools --bus redis://h", /the bus: expected memory: or amqp/],
  ["an unknown service", "up --only web-tool", /Did you mean "web-tools"/],
  [
    "options of a service that is left out",
    "up --only web-tools --port 1 --host ::1",
    /--port: belongs to gateway.*--host: belongs to gateway/s,
  ],
  ["a port that is none", "up --port 70000", /port, from an option: expected at most 65535/],
  ["a host others can reach, without token", "up --host 0.0.0.0 --port 0", /gatewayToken: is required/],
  [
    "exceptions that cannot be read",
    "up --allow-address nonsense --allow-address 10.0.0.0/99",
    /allowAddresses\.0: .*\n.*allowAddresses\.1: /,
  ],
  ["the same of a call", "call web_browse {} --allow-address nonsense", /allowAddresses\.0: /],
  [
    "a topic that no requests come by",
    "conformance --bus amqp://h --topic x --tool y",
    /--topic: expected tool\.invoke\.\{service\}.*got "x"/,
  ],
  ["a policy file that is not there", "policy check /nonexistent", /the policy \/nonexistent: ENOENT/],
  ["a file that is not there", "up --config /nonexistent", /the file \/nonexistent: cannot be read/],
])("wrong usage is said on stderr with exit 2: %s", async (_, line, words) => {
  using folder = temporaryFolder();
  const { code, stdout, stderr } = await runHere(line.split(" "), { folder: folder.path });

  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(words);
  expect(stderr).not.toMatch(/\.ts:|\n +at /);
});

test("up serves probes on HEALTH_PORT, and refuses CONFIG_FILE and sections that differ in what a process has once", async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path, env: { HEALTH_PORT: "0" } };
  await using up = await startUp(options, ["--only", "gateway"]);
  const [, url = ""] = /^ {2}health +(http:\S+)\/healthz/m.exec(up.stderr()) ?? [];
  expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ status: "ready" });
  const config = folder.write(
    "rockbot.yaml",
    "webTools: { busSilenceMs: 3000, logLevel: warn }\ngateway: { logLevel: error }\n",
  );
  const { code, stderr } = await runCli(["up", "--config", config], { ...options, env: { CONFIG_FILE: config } });
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /2 faults\n.*CONFIG_FILE: .*--config.*\n.*logLevel: the sections have different ones.*LOG_LEVEL/,
  );
});

test("up is not ready while Redis has not answered, and names HEALTH_PORT at its start if that is taken", async () => {
  using folder = temporaryFolder();
  await using page = await startPage();
  const port = String(page.address.split(":")[1]);
  const redisUrl = `redis://127.0.0.1:${await freePort()}`;
  const env = { HEALTH_PORT: "0", HEALTH_HOST: "::1", REDIS_URL: redisUrl };
  await using up = await startUp({ folder: folder.path, env }, ["--only", "gateway,web-tools"]);
  const [, url = ""] = /^ {2}health +(http:\S+)\/healthz/m.exec(up.stderr()) ?? [];
  expect(await (await fetch(`${url}/readyz`)).json()).toEqual({
    status: "not ready",
    reasons: ["Redis has not been reached since the start"],
  });

  using another = temporaryFolder();
  const taken = await runHere(["up", "--port", "0"], { folder: another.path, env: { HEALTH_PORT: port } });
  expect(taken).toEqual({
    code: 1,
    stdout: "",
    stderr: `rockbot: HEALTH_PORT: Cannot listen on 127.0.0.1:${port}: EADDRINUSE. Free the port or choose another\n`,
  });
}, 60_000);

test("every fault of a file and the environment is listed once, with exit 2", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "rockbot.yaml");
  writeFileSync(file, "webTool: {}\ngateway: { prt: 1, callTimeoutMs: soon }\nwebTools: { allowAddresses: 7 }\n");
  const { code, stderr } = await runCli(["up", "--config", file], {
    folder: folder.path,
    env: { GATEWAY_TOKEN: "short-canary" },
  });

  expect(code).toBe(2);
  expect(stderr).toContain('unknown section "webTool": did you mean "webTools"?');
  expect(stderr.match(/unknown section/g)).toHaveLength(1);
  expect(stderr).toMatch(/section gateway of the file .*: unknown property "prt": did you mean "port"\?/);
  expect(stderr).toMatch(/callTimeoutMs, from the section gateway/);
  expect(stderr).toMatch(/allowAddresses, from the section webTools/);
  expect(stderr).toMatch(/gatewayToken, from the variable GATEWAY_TOKEN/);
  expect(stderr).not.toContain("short-canary");
});

test("faults that the schema cannot know are listed beside those it does, and secrets in addresses are not", async () => {
  using folder = temporaryFolder();
  const run = (line: string, env: Record<string, string>) => runHere(line.split(" "), { folder: folder.path, env });
  const [mixed, bus, otherBus, search, token] = await Promise.all([
    run("up", { MAX_SEARCH_RESULTS: "99", ALLOW_ADDRESSES: "nonsense", HOST: "0.0.0.0", PORT: "x" }),
    run("up --bus amqp://u:canary%@[bad", {}),
    run("up", { BUS_URL: "amqp://u:canary@ho st" }),
    run("call web_browse {}", { BRAVE_API_KEY: "key", BRAVE_BASE_URL: "https://ho st" }),
    run("up", { HOST: "0.0.0.0", GATEWAY_TOKEN: "short" }),
  ]);

  expect([mixed, bus, otherBus, search, token].map(({ code, stdout }) => [code, stdout])).toEqual(
    Array(5).fill([2, ""]),
  );
  expect(mixed.stderr).toMatch(
    /4 faults\n +maxSearchResults.*\n +allowAddresses\.0: .*\n +port.*\n +gatewayToken: is required/,
  );
  for (const { stderr } of [bus, otherBus]) expect(stderr).toMatch(/1 fault\n +busUrl: (?!.*canary)/);
  expect(search.stderr).toMatch(/1 fault\n +braveBaseUrl: /);
  expect(token.stderr).toMatch(/1 fault\n +gatewayToken, from the variable GATEWAY_TOKEN/);
});

test("with nothing running, call starts the tool itself; the answer alone is on stdout", async () => {
  using folder = temporaryFolder();
  await using page = await startPage();
  const { code, stdout, stderr } = await runCli(
    ["call", "web_browse", JSON.stringify({ url: page.url() }), "--allow-address", page.address],
    {
      folder: folder.path,
    },
  );

  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toContain("# A page");
  expect(stdout).toMatch(/From a page of our own\.\n$/);
});

const noSandbox = missingNamespaces();

test.skipIf(noSandbox)(
  `with nothing running, call runs a script, whose output alone is on stdout${noSandbox === undefined ? "" : ` (skipped: ${noSandbox})`}`,
  { timeout: 60_000 },
  async () => {
    using folder = temporaryFolder();
    const call = (script: string) =>
      runCli(["call", "execute_python_script", JSON.stringify({ script, input_data: "12" })], { folder: folder.path });
    const [squared, failed, doctor] = await Promise.all([
      call("print(int(input()) ** 2)"),
      call("1 / 0"),
      runCli(["doctor"], { folder: folder.path }),
    ]);

    expect(squared).toMatchObject({ code: 0, stdout: "144\n", stderr: "" });
    expect(failed).toMatchObject({ code: 1, stdout: expect.stringMatching(/exit code 1\..*ZeroDivisionError/s) });
    expect(doctor.stdout).toMatch(/^ok +scripts +Python 3\.\d+\.\d+ in a sandbox/m);
  },
);

test("--json prints the whole response, and - reads the arguments from stdin", async () => {
  using folder = temporaryFolder();
  await using page = await startPage();
  const { code, stdout } = await runCli(["call", "web_browse", "-", "--json", "--allow-address", page.address], {
    folder: folder.path,
    input: JSON.stringify({ url: page.url() }),
  });

  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    toolCallId: expect.stringMatching(/^[0-9a-f]{32}$/),
    toolName: "web_browse",
    structured: { title: "A page" },
    trust: { level: "untrusted" },
  });
});

test("key=value words are the arguments, typed by the tool; every fault of them is listed before anything is called", async () => {
  using folder = temporaryFolder();
  await using page = await startPage();
  const options = { folder: folder.path };
  const read = await runHere(
    ["call", "web_browse", `url=${page.url("/?a=b")}`, "--allow-address", page.address],
    options,
  );
  const faulty = await runHere(["call", "web_search", "qurey=x", "count=many", "--timeout", "soon"], options);

  expect(read).toMatchObject({ code: 0, stdout: expect.stringContaining("Grüße") });
  expect(page.requests).toEqual(["/?a=b"]);
  expect(faulty).toMatchObject({ code: 2, stdout: "" });
  expect(faulty.stderr).toMatch(
    /--timeout: expected.*qurey: .*Did you mean "query"\?.*count: expected a whole number, got "many".*query: is required/s,
  );
});

test.each([
  ["a tool that does not exist", ["web_brows", "{}"], 2, "tool_not_found", /did you mean "web_browse"/],
  [
    "arguments that the tool does not take",
    ["web_browse", '{"ulr":"https://example.com/"}'],
    2,
    "invalid_arguments",
    /url.*required|did you mean "url"/s,
  ],
  [
    "a tool that is off",
    ["web_search", '{"query":"x"}'],
    1,
    "unavailable",
    /it is off\. It needs a key of the Brave Search API: set BRAVE_API_KEY/,
  ],
  ["an address that is not public", ["web_browse", '{"url":"http://127.0.0.1:9/"}'], 1, "denied", /./],
])(
  "a call that fails says so on stderr, and with --json on stdout too: %s",
  async (_, call, code, errorCode, words) => {
    using folder = temporaryFolder();
    const options = { folder: folder.path };
    const plain = await runHere(["call", ...call], options);
    const json = await runHere(["call", ...call, "--json"], options);

    expect(plain).toMatchObject({ code, stdout: "", stderr: expect.stringMatching(words) });
    expect(json.code).toBe(code);
    expect(JSON.parse(json.stdout)).toMatchObject({
      toolCallId: expect.stringMatching(/^[0-9a-f]{32}$/),
      toolName: call[0],
      code: errorCode,
      message: expect.stringMatching(words),
    });
  },
);

test("tools and guides are listed with nothing running", async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };
  const [tools, one, unknown, off, json, guides, guide, none] = await Promise.all([
    runHere(["tools"], options),
    runHere(["tools", "web_browse"], options),
    runHere(["tools", "web_brows"], options),
    runHere(["tools", "web_search"], options),
    runHere(["tools", "--json"], options),
    runHere(["guide"], options),
    runHere(["guide", "WEB-tools"], options),
    runHere(["guide", "web-tool"], options),
  ]);

  expect(tools).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^web_browse +Read one public web page, feed, JSON or PDF document\.$/m),
    stderr: expect.stringContaining("run by this process"),
  });
  expect(one).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^web_browse, run by web-tools\. .*Arguments:\n {2}url +string, required +\S/s),
  });
  expect(unknown).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining('Did you mean "web_browse"?') });
  expect(off).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("web_search is off. It needs a key"),
  });
  expect(JSON.parse(json.stdout)).toContainEqual(
    expect.objectContaining({
      name: "web_browse",
      source: "web-tools",
      parameters: expect.objectContaining({ required: ["url"] }),
    }),
  );
  expect(guides.stdout).toMatch(/^web-tools: /m);
  expect(guides.stdout).not.toContain("get_tool_guide");
  expect(guides.stderr).toContain("Read one: rockbot guide NAME");
  expect(guide).toMatchObject({ code: 0, stdout: expect.stringContaining("web_browse"), stderr: "" });
  expect(none).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("web-tools") });
});

test("at a terminal tools are a line each that fits, and what tools that are off need is told in full", async () => {
  using folder = temporaryFolder();
  const { stdout, stderr } = await runHere(["tools"], { folder: folder.path, columns: 80 });
  const [off = ""] = /^off +web_search[\s\S]*?(?=\n\S)/m.exec(stderr) ?? [];

  expect(`${stdout}${off}`.split("\n").filter((line) => line.length > 80)).toEqual([]);
  expect(stdout).toMatch(/^cancel_scheduled_task +\S.*…$/m);
  expect(off.replaceAll(/\s+/g, " ")).toMatch(/BRAVE_API_KEY.*\.$/);
});

test("up serves HTTP, and other commands by a socket that only its user can open", async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };
  await using page = await startPage();
  await using up = await startUp(options, ["--allow-address", page.address]);
  const body = JSON.stringify({ url: page.url() });
  const overHttp = await fetch(`${up.url}/v1/tools/web_browse/invoke`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  const [called, failed, listed] = await Promise.all([
    runCli(["call", "web_browse", body], options),
    runCli(["call", "web_browse", JSON.stringify({ url: page.url("/gone") }), "--json"], options),
    runCli(["tools"], options),
  ]);

  expect(await overHttp.json()).toMatchObject({ content: expect.stringContaining("From a page of our own.") });
  expect(called).toMatchObject({ code: 0, stdout: expect.stringContaining("From a page of our own."), stderr: "" });
  expect(failed.code).toBe(1);
  expect(JSON.parse(failed.stdout)).toMatchObject({
    code: "execution_failed",
    message: expect.stringContaining("404"),
  });
  expect(listed.stderr).toContain('run by the running "rockbot up"');
  expect([
    statSync(join(folder.path, "run")).mode & 0o777,
    statSync(join(folder.path, "run/rockbot.sock")).mode & 0o777,
  ]).toEqual([0o700, 0o600]);
  expect(up.stderr()).toMatch(/gateway +http.*token +none needed.*tools +.*web_browse/s);
  expect(up.stderr()).toMatch(/^ready in \d+ ms\n {2}try +curl -s http:\/\/127\.0\.0\.1:\d+\/v1\/tools\/.*\n$/m);

  up.kill("SIGTERM");
  expect(await up.ended).toMatchObject({
    code: 0,
    stdout: "",
    stderr: expect.stringMatching(/\nstopping: running calls have 20 s to end; Ctrl-C stops now\n$/),
  });
  expect(existsSync(join(folder.path, "run/rockbot.sock"))).toBe(false);
});

test.each([true, false])(
  "what a page holds cannot steer a terminal, and reaches a pipe as it is (a terminal: %s)",
  async (isTerminal) => {
    using folder = temporaryFolder();
    await using page = await startPage();
    const env = isTerminal
      ? { NODE_OPTIONS: "--import=data:text/javascript,process.stdout.isTTY=process.stderr.isTTY=true" }
      : {};
    const line = ["call", "web_browse", JSON.stringify({ url: page.url("/escapes") }), "--allow-address", page.address];
    const [plain, json] = await Promise.all([
      runCli(line, { folder: folder.path, env }),
      runCli([...line, "--json"], { folder: folder.path, env }),
    ]);

    expect([plain.code, json.code]).toEqual([0, 0]);
    expect(plain.stdout).toMatch(/before.*after/);
    if (isTerminal) expect(plain.stdout).not.toMatch(/[\x1b\x07]/);
    else expect(plain.stdout).toBe(`${(JSON.parse(json.stdout) as { content: string }).content}\n`);
  },
);

test("the call that up names to try is one of a tool that is there, and needs no internet", async () => {
  using folder = temporaryFolder();
  await using up = await startUp({ folder: folder.path }, FEW);
  const [, url, body] = /^ {2}try .* (http\S+) .* -d '(.*)'/m.exec(up.stderr()) ?? [];

  expect(url).not.toContain("/web_");
  const answer = await fetch(String(url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: String(body),
  });
  expect(answer.status).toBe(200);
});

test("what a tool's error quotes is escaped, also for a pipe", async () => {
  using folder = temporaryFolder();
  const { code, stderr } = await runHere(["call", "x\u001b[2J\u202ey", "{}"], { folder: folder.path });

  expect(code).toBe(2);
  expect(stderr).toContain("\\u001b[2J\\u202ey");
  expect(stderr).not.toMatch(/[\u001b\u202e]/);
});

test("a second up is refused in words; the socket of a dead one is replaced", async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };
  await using first = await startUp(options, FEW);
  const second = await runCli(["up", "--port", "0", ...FEW], options);
  first.kill("SIGKILL");
  await first.ended;
  await using third = await startUp(options, FEW);
  const tools = await runHere(["tools"], options);

  expect(second).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/another "rockbot up" runs/) });
  expect(tools.stderr).toContain('run by the running "rockbot up"');
  expect(third.url).not.toBe("");
});

test("of several that start at once, over the socket of a dead one too, exactly one runs", async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };
  const dead = await startUp(options, FEW);
  dead.kill("SIGKILL");
  await dead.ended;
  const starts = await Promise.allSettled([startUp(options, FEW), startUp(options, FEW), startUp(options, FEW)]);
  await using running = new AsyncDisposableStack();
  for (const start of starts) if (start.status === "fulfilled") running.use(start.value);
  const refused = starts.flatMap((start) => (start.status === "rejected" ? [String(start.reason)] : []));
  const tools = await runHere(["tools"], options);

  expect(refused).toEqual([
    expect.stringContaining('another "rockbot up" runs'),
    expect.stringContaining('another "rockbot up" runs'),
  ]);
  expect(tools.stderr).toContain('run by the running "rockbot up"');
  expect(readdirSync(join(folder.path, "run"))).toEqual(["rockbot.sock"]);
}, 30_000);

test("a port that is taken is said in words", async () => {
  using folder = temporaryFolder();
  await using page = await startPage();
  const port = String(page.address.split(":")[1]);
  const { code, stderr } = await runHere(["up", "--port", port], { folder: folder.path });

  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining(`Cannot listen on 127.0.0.1:${port}: EADDRINUSE. Free the port or choose another: --port `),
  ]);
});

test("a folder that others can use is refused", async () => {
  using folder = temporaryFolder();
  mkdirSync(join(folder.path, "run"));
  chmodSync(join(folder.path, "run"), 0o755);

  for (const line of ["up --port 0", "call web_browse {}", "tools"]) {
    expect(await runHere(line.split(" "), { folder: folder.path })).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("others have access to it. Run"),
    });
  }
});

test.each([
  [true, "SIGINT", 130],
  [false, "SIGINT", 130],
  [false, "SIGTERM", 143],
] as const)("a signal cancels the call where it runs (an up runs: %s, by %s, with %i)", async (isUp, signal, code) => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };
  await using page = await startPage();
  await using _up = isUp ? await startUp(options, [...FEW, "--allow-address", page.address]) : undefined;
  await using call = startCli(
    [
      "call",
      "web_browse",
      JSON.stringify({ url: page.url("/slow") }),
      ...(isUp ? [] : ["--allow-address", page.address]),
    ],
    options,
  );
  await expect.poll(() => page.requests, { timeout: 30_000 }).toContain("/slow");
  call.kill(signal);

  expect(await call.ended).toMatchObject({ code, stdout: "", stderr: expect.stringContaining("cancelled") });
  await expect.poll(() => page.closed, { timeout: 30_000 }).toContain("/slow");
});

test.each(["SIGINT", "SIGTERM"] as const)("%s ends a command that still connects at once", async (signal) => {
  using folder = temporaryFolder();
  const connected = Promise.withResolvers<void>();
  await using stack = new AsyncDisposableStack();
  // A broker that takes connections and never says a word.
  const server = createServer((socket) => {
    stack.defer(() => void socket.destroy());
    connected.resolve();
  });
  stack.defer(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const words = signal === "SIGINT" ? ["up", "--only", "web-tools"] : ["call", "x"];
  const bus = `amqp://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await using command = startCli([...words, "--bus", bus], { folder: folder.path, env: { LOG_LEVEL: "error" } });
  await connected.promise;
  command.kill(signal);

  expect(await command.ended).toMatchObject({ code: signal === "SIGINT" ? 130 : 143, stdout: "", stderr: "" });
});

test("a call ends by its timeout with exit 1", async () => {
  using folder = temporaryFolder();
  await using page = await startPage();
  const { code, stderr } = await runHere(
    [
      "call",
      "web_browse",
      JSON.stringify({ url: page.url("/slow") }),
      "--timeout",
      "500",
      "--allow-address",
      page.address,
    ],
    { folder: folder.path },
  );

  expect([code, stderr]).toEqual([1, expect.stringContaining("timeout")]);
});

test("a broker that does not answer is said in words, without the password", async () => {
  using folder = temporaryFolder();
  const bus = ["--bus", "amqp://user:canary-password@127.0.0.1:1/"];
  const results = await Promise.all([
    runCli(["doctor", ...bus], { folder: folder.path }),
    runCli(["up", ...bus], { folder: folder.path, env: { LOG_LEVEL: "error" } }),
    runCli(["tools", ...bus], { folder: folder.path }),
  ]);

  for (const { code, stdout, stderr } of results) {
    expect(code).toBe(1);
    expect(stdout + stderr).toContain("127.0.0.1:1");
    expect(stdout + stderr).not.toContain("canary-password");
  }
}, 45_000);

test("doctor calls a user broken who cannot hear the services", async () => {
  using folder = temporaryFolder();
  await using host = await ownVirtualHost();
  const user = `deaf-${host.name.replaceAll("/", "own")}`;
  await host.importDefinitions({
    users: [{ name: user, password: "canary-password", tags: "" }],
    permissions: [{ user, vhost: host.name, configure: ".*", write: ".*", read: "^$" }],
  });
  const bus = Object.assign(new URL(host.url), { username: user, password: "canary-password" }).href;
  const { code, stdout } = await runHere(["doctor", "--bus", bus], { folder: folder.path });

  expect([code, stdout]).toEqual([
    1,
    expect.stringMatching(/^broken +policy in force +services cannot be heard by this user: .*--policy$/m),
  ]);
}, 120_000);

test("doctor says what is off and what it costs, and that it is optional", async () => {
  using folder = temporaryFolder();
  const plain = await runHere(["doctor"], { folder: folder.path });
  const json = await runHere(["doctor", "--json"], { folder: folder.path, env: { BRAVE_API_KEY: "canary-key" } });

  expect(plain.code).toBe(0);
  expect(plain.stdout).toMatch(/^ok +Node\.js +24\./m);
  expect(plain.stdout).toMatch(
    /^ok +scheduled tasks +kept in \/.*schedules\.json: change it with SCHEDULES_FILE; DATA_DIRECTORY has no effect on it;/m,
  );
  expect(plain.stdout).toMatch(/^off \(optional\) BRAVE_API_KEY +not set, so web_search is off/m);
  expect(plain.stdout).toMatch(/^ok +rockbot up +does not run/m);
  expect(JSON.parse(json.stdout)).toMatchObject({
    findings: expect.arrayContaining([{ what: "BRAVE_API_KEY", state: "ok", message: "set" }]),
  });
  expect(json.stdout).not.toContain("canary-key");
});

test("doctor asks the running system what it finds, not its own shell", async () => {
  using folder = temporaryFolder();
  await using _up = await startUp({ folder: folder.path, env: { BRAVE_API_KEY: "canary-key" } }, FEW);
  const { code, stdout, stderr } = await runHere(["doctor", "--policy", "/ignored"], {
    folder: folder.path,
    env: { POLICY_FILE: "/nonexistent" },
  });

  expect([code, stderr]).toEqual([0, expect.stringContaining("--policy has no effect here")]);
  expect(stdout).toMatch(/^ok +rockbot up +runs;.*\noff \(optional\) policy +none.*^ok +BRAVE_API_KEY +set$/ms);
  expect(stdout).not.toMatch(/broken|missing|port|canary-key/);
});

test("a rockbot up that does not say what it finds, or what is off, breaks neither doctor's words nor the list of tools", async () => {
  using folder = temporaryFolder();
  const socket = ownSocket({ ROCKBOT_RUNTIME_DIR: join(folder.path, "run") });
  socket.makeFolder();
  await using bus = createMemoryBus();
  await using caller = await createToolCaller(bus, { agent: "cli", results: "copy" });
  const fails = (): never => {
    throw new Error("as an older one");
  };
  const parts = { bus, caller, findings: fails, off: fails };
  await using _server = await serveSocket(socket, parts, { drainMs: 1000, signal: new AbortController().signal });
  const [doctor, tools] = [
    await runHere(["doctor"], { folder: folder.path }),
    await runHere(["tools"], { folder: folder.path }),
  ];

  expect([doctor.code, doctor.stdout]).toEqual([
    1,
    expect.stringMatching(/^broken +rockbot up +runs, and does not say what it finds \(it answers 502/m),
  ]);
  expect(doctor.stdout).not.toMatch(/^\S+ +port /m);
  expect([tools.code, tools.stderr]).toEqual([0, expect.stringContaining("Which tools are off is not known")]);
}, 120_000); // doctor looks at the whole machine

test("a command that joins the rockbot up of another checkout says whose it is", async () => {
  using folder = temporaryFolder();
  const socket = ownSocket({ ROCKBOT_RUNTIME_DIR: join(folder.path, "run") });
  socket.makeFolder();
  await using bus = createMemoryBus();
  await using caller = await createToolCaller(bus, { agent: "cli", results: "copy" });
  await using _server = await serveSocket(
    socket,
    { bus, caller, root: "/elsewhere/rockbot" },
    { drainMs: 1000, signal: new AbortController().signal },
  );
  const whose = 'rockbot: the "rockbot up" that runs is that of /elsewhere/rockbot. ';

  for (const words of ["tools", "calls", "dlq list", "up --port 0"])
    expect((await runHere(words.split(" "), { folder: folder.path })).stderr).toContain(whose);
});
