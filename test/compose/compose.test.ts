import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { docker } from "@rockbot/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { whoTalks } from "../../scripts/deployment/who-talks.ts";
import { REACH_PROGRAM, type Target } from "../deployment/reach-program.ts";
import { services } from "../deployment/services.ts";
import { type ComposeProject, startComposeProject } from "./compose-project.ts";

const root = dirname(dirname(import.meta.dirname));

let project: ComposeProject;
beforeAll(async () => {
  project = await startComposeProject();
});
afterAll(async () => {
  await project?.[Symbol.asyncDispose]();
});

test("the agent answers over HTTP after it has called a tool of another service", async () => {
  const answer = (await project.post("/v1/chat/completions", { model: "rockbot", messages: [{ role: "user", content: "How full is the disk?" }] })) as {
    readonly choices?: readonly { readonly message: { readonly content: string } }[];
  };
  expect(answer.choices?.[0]?.message.content).toMatch(/^The tool has said \d+ characters[.]$/);
});

test("tools are called over MCP, and over AMQP by the command", async () => {
  const client = new Client({ name: "compose-test", version: "1.0.0" });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${project.url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${project.token}` } } }),
  );
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["web_browse", "system-info__system_info", "schedule_task"]));
  expect((await client.callTool({ name: "system-info__system_info", arguments: {} })).isError).not.toBe(true);
  await client.close();

  const args = ["call", "system-info__system_info", "--policy", join(root, "docker/policy.yaml"), "--bus", project.busUrl];
  const { stdout } = await promisify(execFile)(join(root, "rockbot"), args, { timeout: 120_000 });
  expect(stdout).toContain("linux");
});

test("a container reaches what the table of who talks to whom lets it reach, and no other service", async () => {
  const running = (await project.compose("ps", "--services")).trim().split("\n");
  const parties: Readonly<Record<string, string>> = { rabbitmq: "broker", redis: "redis" };
  const targets = running.filter((name) => name in parties || services.some((service) => service.name === name));
  const ports = [5672, 6379, 8480, 8481, 8483];
  const addresses = await Promise.all(
    targets.map(async (name) => {
      const format = "{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}";
      return { name, addresses: (await docker(["inspect", "--format", format, project.container(name)])).trim().split(" ") };
    }),
  );
  const talks = new Set(whoTalks(services).flatMap(({ from, to, ports: allowed }) => allowed.map((port) => `${from} ${to} ${port}`)));
  for (const from of targets.filter((name) => !(name in parties))) {
    const others = addresses
      .filter(({ name }) => name !== from)
      .flatMap(({ name, addresses: all }) => all.flatMap((host) => ports.map((port): Target => ({ name, host, port }))));
    const open = JSON.parse(await project.node(from, "--eval", REACH_PROGRAM, JSON.stringify(others))) as readonly Target[];
    const reached = [...new Set(open.map(({ name, port }) => `${from} ${parties[name] ?? name} ${port}`))].sort();
    const expected = targets.flatMap((name) => ports.map((port) => `${from} ${parties[name] ?? name} ${port}`)).filter((talk) => talks.has(talk));
    // Two that talk share a network, in which each reaches the other's health checks, too.
    const partners = services
      .filter(({ name, reachedBy }) => targets.includes(name) && [name, reachedBy].includes(from))
      .map(({ name, reachedBy = "" }) => (name === from ? reachedBy : name));
    const checks = partners.filter((name) => targets.includes(name)).map((name) => `${from} ${name} 8481`);
    expect(reached).toEqual([...new Set([...expected, ...checks])].sort());
  }
});

/** Faults, what each does to a container, and what ends it. */
const faults: readonly (readonly [string, (docker: Docker) => Promise<unknown>])[] = [
  ["the broker is paused", async (run) => [await run("pause", "rabbitmq"), await pause(8_000), await run("unpause", "rabbitmq")]],
  ["the broker is killed", async (run) => [await run("kill", "rabbitmq"), await run("start", "rabbitmq")]],
  ["the network between the scheduler and the broker is cut", (run) => cut(run)],
  ["the scheduler is killed", async (run) => [await run("kill", "scheduler"), await run("start", "scheduler")]],
];
type Docker = (command: string, service: string, ...before: readonly string[]) => Promise<string>;

async function cut(run: Docker): Promise<void> {
  const network = `${project.name}_scheduler`;
  await run("network", "rabbitmq", "disconnect", network);
  await pause(8_000);
  await run("network", "rabbitmq", "connect", "--alias", "rabbitmq", network);
}

const TASKS = 12;

test.for(faults)("while %s no call with effects is lost or doubled", async ([what, fault]) => {
  const run: Docker = (command, service, ...before) => docker([command, ...before, project.container(service)], 120_000);
  const names = Array.from({ length: TASKS }, (_, i) => `${what.replaceAll(/\W+/g, "-")}-${i}`);
  const calls = names.map(async (name, i) => {
    await pause(i * 300);
    return { name, answer: await project.call("schedule_task", { name, cron: "0 0 1 1 *", description: "A task of a test." }) };
  });
  await fault(run);
  const answers = await Promise.all(calls);

  await expect.poll(async () => (await project.call("list_scheduled_tasks", {})).isError, { timeout: 120_000 }).toBe(false);
  const { structured } = await project.call("list_scheduled_tasks", {});
  const there = (structured as { readonly tasks: readonly { readonly name: string }[] }).tasks.map(({ name }) => name).filter((name) => names.includes(name));
  expect(new Set(there).size).toBe(there.length);
  // A caller that was told that a task is there finds it, and it was made once: "replaced" says that there was one.
  for (const { name, answer } of answers) {
    expect(answer, name).toHaveProperty("toolCallId");
    if (answer.isError === false) expect(there).toContain(name);
    if (answer.isError === false) expect(answer.structured, name).toMatchObject({ replaced: false });
  }
  for (const name of there) await project.call("cancel_scheduled_task", { name });
});

test("docker compose down --volumes leaves nothing", async () => {
  const label = `label=com.docker.compose.project=${project.name}`;
  await project.compose("down", "--volumes", "--timeout", "30");
  for (const kind of [
    ["ps", "--all"],
    ["volume", "ls"],
    ["network", "ls"],
  ])
    expect(await docker([...kind, "--quiet", "--filter", label])).toBe("");
});
