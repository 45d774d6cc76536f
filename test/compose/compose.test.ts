import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { docker, run } from "@rockbot/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { whoTalks } from "../../scripts/deployment/who-talks.ts";
import { REACH_PROGRAM, type Target } from "../deployment/reach-program.ts";
import { services } from "../deployment/services.ts";
import { ACCOUNT, secrets as given, SHOP_KEY } from "../every-tool/stand-ins.ts";
import { testEveryTool } from "../every-tool/test-every-tool.ts";
import { type OpenWays, openWays } from "../every-tool/ways.ts";
import { brokenRules, Ledger } from "../faults/effects/ledger.ts";
import { type ComposeProject, PROMETHEUS_IMAGE, startComposeProject } from "./compose-project.ts";
import { reachableAddress } from "./reachable-address.ts";

const root = dirname(dirname(import.meta.dirname));

let project: ComposeProject;
beforeAll(async () => {
  project = await startComposeProject();
});
afterAll(async () => {
  await project?.[Symbol.asyncDispose]();
});

describe("the agent answers after it has called a tool of another service", () => {
  const QUESTION = "How full is the disk?";
  const ANSWER = /^The tool has said \d+ characters[.]$/;

  test("over HTTP", async () => {
    const answer = (await project.post("/v1/chat/completions", {
      model: "rockbot",
      messages: [{ role: "user", content: QUESTION }],
    })) as {
      readonly choices?: readonly { readonly message: { readonly content: string } }[];
    };
    expect(answer.choices?.[0]?.message.content).toMatch(ANSWER);
  });

  test("over MCP, where its tools are, too", async () => {
    const client = new Client({ name: "compose-test", version: "1.0.0" });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${project.url}/mcp`), {
        requestInit: { headers: { authorization: `Bearer ${project.token}` } },
      }),
    );
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        "web_browse",
        "system-info__system_info",
        "schedule_task",
        "execute_python_script",
        "agent__chat",
      ]),
    );
    expect((await client.callTool({ name: "system-info__system_info", arguments: {} })).isError).not.toBe(true);
    const { structuredContent } = await client.callTool({ name: "agent__chat", arguments: { message: QUESTION } });
    expect(structuredContent).toMatchObject({ text: expect.stringMatching(ANSWER) });
    await client.close();
  });

  test("over AMQP by the command, which calls tools there, too", async () => {
    const env = { ...process.env, ROCKBOT_BUS: project.busUrl };
    const rockbot = (...args: string[]) =>
      run(join(root, "rockbot"), [...args, "--policy", join(root, "docker/policy/policy.yaml")], {
        timeoutMs: 120_000,
        env,
      });
    expect(await rockbot("call", "system-info__system_info")).toContain("linux");
    expect((await rockbot("chat", "--prompt", QUESTION)).trim()).toMatch(ANSWER);
  });
});

describe("each tool, called once", () => {
  let ways: OpenWays;
  beforeAll(async () => {
    ways = await openWays(project);
  });
  afterAll(async () => {
    await ways?.[Symbol.asyncDispose]();
  });

  test("an account of Google logs in before", async () => {
    const container = (
      await project.compose("run", "--detach", "--rm", "google-accounts", "login", "--account", ACCOUNT)
    ).trim();
    const ended = docker(["wait", container], 240_000);
    ended.catch(() => {}); // read below
    for (const count of [1, 2]) {
      const logs = () => run("sh", ["-c", `docker logs ${container} 2>&1`], { timeoutMs: 60_000 });
      const pages = async () => [...(await logs()).matchAll(/http:\S+\/o\/oauth2\S+/g)];
      await expect.poll(async () => (await pages()).length).toBe(count);
      // The browser is in the container, too, as Google is reached from there alone; it may end with the command.
      await docker([
        "exec",
        container,
        "node",
        "--eval",
        `fetch(${JSON.stringify((await pages())[count - 1]?.[0])})`,
      ]).catch(() => {});
    }
    expect((await ended).trim()).toBe("0");
  });

  const noShell = "an image has no shell";
  testEveryTool(() => ways, { search_files: noShell, bash: noShell });
});

test("a page that needs a browser is drawn in the container of page-renderer", async () => {
  const browsed = () => project.call("web_browse", { url: `http://site:8490/#${Math.random()}` });
  await expect
    .poll(browsed)
    .toMatchObject({ content: expect.stringContaining("# Drawn"), structured: { needsBrowser: false, title: "App" } });
});

test("a script runs without any network", async () => {
  const script = `
import socket
print(6 * 7, [name for _, name in socket.if_nameindex()])
try:
    socket.create_connection(("10.0.0.1", 443), 3)
except OSError as error:
    print(error.strerror)
`;
  const { structured } = await project.call("execute_python_script", { script });
  expect(structured).toMatchObject({ stdout: "42 ['lo']\nNetwork is unreachable\n" });
});

describe("a container reaches", () => {
  test("what the table of who talks to whom lets it reach, and no other service", async () => {
    const running = (await project.compose("ps", "--services")).trim().split("\n");
    const parties: Readonly<Record<string, string>> = { rabbitmq: "broker", redis: "redis" };
    const targets = running.filter((name) => name in parties || services.some((service) => service.name === name));
    expect(targets).toEqual(
      expect.arrayContaining([
        "rabbitmq",
        "redis",
        "system-info-mcp",
        ...services.filter(({ onBus }) => onBus).map(({ name }) => name),
      ]),
    );
    const ports = [5672, 6379, 8480, 8481, 8483];
    const addresses = await Promise.all(
      targets.map(async (name) => {
        const format = "{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}";
        return {
          name,
          addresses: (await docker(["inspect", "--format", format, project.container(name)])).trim().split(" "),
        };
      }),
    );
    const talks = new Set(
      whoTalks(services).flatMap(({ from, to, ports: allowed }) => allowed.map((port) => `${from} ${to} ${port}`)),
    );
    for (const from of targets.filter((name) => !(name in parties))) {
      const others = addresses
        .filter(({ name }) => name !== from)
        .flatMap(({ name, addresses: all }) =>
          all.flatMap((host) => ports.map((port): Target => ({ name, host, port }))),
        );
      const open = JSON.parse(
        await project.node(from, "--eval", REACH_PROGRAM, JSON.stringify(others)),
      ) as readonly Target[];
      const reached = [...new Set(open.map(({ name, port }) => `${from} ${parties[name] ?? name} ${port}`))].sort();
      const expected = targets
        .flatMap((name) => ports.map((port) => `${from} ${parties[name] ?? name} ${port}`))
        .filter((talk) => talks.has(talk));
      // Two that talk share a network, in which each reaches the other's health checks, too.
      const partners = services
        .filter(({ name, reachedBy }) => targets.includes(name) && [name, reachedBy].includes(from))
        .map(({ name, reachedBy = "" }) => (name === from ? reachedBy : name));
      const checks = partners.filter((name) => targets.includes(name)).map((name) => `${from} ${name} 8481`);
      expect(reached).toEqual([...new Set([...expected, ...checks])].sort());
    }
  });

  test("other machines only if its service has to", async ({ skip }) => {
    const elsewhere = await reachableAddress();
    if (elsewhere === undefined)
      return skip("this machine does not reach the npm registry, which stands for other machines");
    const running = (await project.compose("ps", "--services")).trim().split("\n");
    for (const { name, egress } of services.filter((service) => running.includes(service.name))) {
      const reached: unknown = JSON.parse(
        await project.node(name, "--eval", REACH_PROGRAM, JSON.stringify([elsewhere])),
      );
      const isLetOut = egress.includes("internet") || egress.includes("configured");
      expect({ name, reached }).toEqual({ name, reached: isLetOut ? [elsewhere] : [] });
    }
    const reaches = (from: string, host: string, port: number) =>
      docker(["exec", project.container(from), "timeout", "5", "bash", "-c", `exec 3<>/dev/tcp/${host}/${port}`]).then(
        () => true,
        () => false,
      );
    for (const [from, other, port] of [
      ["rabbitmq", "redis", 6379],
      ["redis", "rabbitmq", 5672],
    ] as const) {
      expect(await reaches(from, other, port)).toBe(true); // so that the program can tell
      expect(await reaches(from, elsewhere.host, elsewhere.port)).toBe(false);
    }
  });
});

test("no secret is in a command line, in what the engine tells of a container, or in a log; the file of all has mode 0600", async () => {
  const read = [
    "run",
    "--rm",
    "--network",
    "none",
    "--volume",
    `${project.name}_secrets:/kept:ro`,
    "node:24-bookworm-slim",
  ];
  expect((await docker([...read, "stat", "-c", "%a %u", "/kept/secrets.env"])).trim()).toBe("600 0");
  const kept = (await docker([...read, "cat", "/kept/secrets.env"])).trim().split("\n");
  expect(kept.length).toBeGreaterThan(8);
  const secrets = [...kept.map((line) => line.slice(line.indexOf("=") + 1)), ...Object.values(given), SHOP_KEY];
  const containers = (
    await docker(["ps", "--all", "--quiet", "--filter", `label=com.docker.compose.project=${project.name}`])
  )
    .trim()
    .split("\n");
  expect(containers.length).toBeGreaterThan(10);
  for (const id of containers) {
    const isRunning = (await docker(["inspect", "--format", "{{.State.Running}}", id])).trim() === "true";
    const told = [
      await docker(["inspect", id]),
      await docker(["logs", id]),
      isRunning ? await docker(["top", id, "-eo", "pid,args"]) : "",
    ].join("\n");
    expect(secrets.filter((secret) => told.includes(secret))).toEqual([]);
  }
});

describe("while calls with effects come in", () => {
  type Docker = (command: string, service: string, ...before: readonly string[]) => Promise<string>;
  /** Longer than heartbeats take to notice. */
  const FAULT_MS = 8_000;
  const cut = async (run: Docker) => {
    const network = `${project.name}_mcp-bridge`;
    await run("network", "rabbitmq", "disconnect", network);
    await pause(FAULT_MS);
    await run("network", "rabbitmq", "connect", "--alias", "rabbitmq", network);
  };
  /** Faults, and what does each to a container and ends it. */
  const faults: readonly (readonly [string, (run: Docker) => Promise<unknown>])[] = [
    [
      "the broker is paused",
      async (run) => [await run("pause", "rabbitmq"), await pause(FAULT_MS), await run("unpause", "rabbitmq")],
    ],
    ["the broker is killed", async (run) => [await run("kill", "rabbitmq"), await run("start", "rabbitmq")]],
    ["the network between their service and the broker is cut", cut],
    ["their service is killed", async (run) => [await run("kill", "mcp-bridge"), await run("start", "mcp-bridge")]],
  ];
  const [PER_SECOND, CALLS, TIMEOUT_MS] = [20, 60, 30_000];
  /** The codes of errors that say nothing of whether the tool ran. */
  const UNKNOWN: readonly string[] = [
    ToolErrorCode.Timeout,
    ToolErrorCode.OutcomeUnknown,
    ToolErrorCode.ExecutionFailed,
    ToolErrorCode.Cancelled,
  ];

  test.for(faults)(
    "and %s, each gets one answer in time, which is true, and none runs twice",
    async ([what, fault]) => {
      const docked: Docker = (command, service, ...before) =>
        docker([command, ...before, project.container(service)], 120_000);
      const prefix = `${what.replaceAll(/\W+/g, "-")}.`;
      const ledger = new Ledger();
      const denied = new Set<string>();
      const stop = new AbortController();
      const load = ledger.run({
        perSecond: PER_SECOND,
        deadlineMs: TIMEOUT_MS + 2_000, // and the way to the gateway and back, on a machine that does much else
        signal: stop.signal,
        async call(id) {
          const { code, message, details, isError, content } = await project.call(
            "ledger__note",
            { id: `${prefix}${id}` },
            { "rockbot-timeout-ms": String(TIMEOUT_MS) },
          );
          if (code !== undefined && !UNKNOWN.includes(code) && details?.mayHaveRun !== true) denied.add(id);
          if (code !== undefined) throw new ToolError(code, message ?? "");
          expect(isError).toBe(false);
          return content?.slice(prefix.length) ?? "";
        },
      });
      const further = async () => {
        const asked = ledger.asked;
        await expect.poll(() => ledger.asked - asked).toBeGreaterThanOrEqual(CALLS);
      };
      await further();
      await fault(docked);
      const mended = performance.now();
      await expect.poll(() => ledger.firstAnswerAfter(mended)).toBeDefined();
      await further();
      stop.abort();
      await load;
      const effects = new Map<string, number>();
      for (const [, id = ""] of (await docker(["logs", project.container("ledger")])).matchAll(/^effect (.*)$/gm)) {
        if (id.startsWith(prefix))
          effects.set(id.slice(prefix.length), (effects.get(id.slice(prefix.length)) ?? 0) + 1);
      }
      ledger.addEffects(effects);
      const report = ledger.report();
      console.log(
        `${what}: ${report.asked} calls, ${report.answered} answered, ${JSON.stringify(report.failed)}, ${effects.size} with effects`,
      );

      expect(brokenRules(report)).toEqual([]);
      expect(report.repeated).toEqual([]);
      expect([...denied].filter((id) => effects.has(id))).toEqual([]);
      expect(Object.values(ToolErrorCode)).toEqual(expect.arrayContaining(Object.keys(report.failed)));
      expect(report.answered).toBeGreaterThanOrEqual(CALLS);
    },
  );
});

test("Prometheus of the profile observability reads every service and the broker, and has the alerts", async ({
  skip,
}) => {
  const dockerfile = `FROM debian:bookworm-slim
RUN apt-get update && apt-get install --yes --no-install-recommends prometheus && install -d -o nobody /prometheus
USER nobody
ENTRYPOINT ["/usr/bin/prometheus"]`;
  try {
    await run("docker", ["build", "--quiet", "--tag", PROMETHEUS_IMAGE, "-"], {
      timeoutMs: 240_000,
      input: dockerfile,
    });
  } catch (error) {
    return skip(`no image of Debian's Prometheus can be made here: ${(error as Error).message.slice(-200)}`);
  }
  await project.compose("--profile", "observability", "up", "--detach", "--no-deps", "prometheus");
  const ask = async (path: string): Promise<{ readonly data: Answer }> =>
    JSON.parse(
      await project.node(
        "gateway",
        "--eval",
        `fetch("http://prometheus:9090/api/v1/${path}").then(async (answer) => console.log(await answer.text()))`,
      ),
    );
  interface Answer {
    readonly activeTargets: readonly { readonly health: string; readonly labels: { readonly job: string } }[];
    readonly groups: readonly { readonly rules: readonly { readonly lastError?: string }[] }[];
  }
  const started = (await project.compose("ps", "--services")).trim().split("\n");
  const running = services.flatMap(({ name }) => (started.includes(name) ? name : []));
  await expect
    .poll(
      async () =>
        (await ask("targets")).data.activeTargets
          .flatMap(({ health, labels }) => (health === "up" ? labels.job : []))
          .sort(),
      {
        interval: 2_000,
      },
    )
    .toEqual([...running, "rabbitmq"].sort());
  const rules = (await ask("rules")).data.groups.flatMap((group) => group.rules);
  expect(rules.length).toBeGreaterThan(20);
  expect(rules.filter(({ lastError = "" }) => lastError !== "")).toEqual([]);
});

test("docker compose down --volumes of all profiles leaves nothing", async () => {
  const filters = [
    `label=com.docker.compose.project=${project.name}`,
    `label=rockbot.dev/owner=${project.name}`,
    `name=${project.name}`,
  ];
  await project.compose("--profile", "*", "down", "--volumes", "--timeout", "30");
  for (const filter of filters) {
    for (const kind of [
      ["ps", "--all"],
      ["volume", "ls"],
      ["network", "ls"],
    ])
      expect(await docker([...kind, "--quiet", "--filter", filter])).toBe("");
  }
});
