import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { chmodSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort, type GatewayClient, gatewayClient, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { cloneAt, LAST_RELEASE, lacksLastRelease } from "../last-release.ts";

const exec = promisify(execFile);
const UP_MS = 1_500_000;
/** How long a service may take until it goes by a policy that has been replaced. */
const TAKEN_MS = 15_000;
const BOB = randomBytes(16).toString("hex");
const ALICE = randomBytes(16).toString("hex");
const hash = (token: string): string => `sha256:${createHash("sha256").update(token).digest("hex")}`;

/** As an operator writes it into the policy; alice and bob come by the gateway. */
const withCallers = (policy: string, names: Readonly<Record<string, string>>): string =>
  policy
    .replace(
      /^callers:.*\n/m,
      (line) =>
        `${line}${Object.entries(names)
          .map(([name, token]) => `  ${name}: { user: null, tokens: [{ hash: "${hash(token)}" }], allow: ["*"] }\n`)
          .join("")}`,
    )
    .replaceAll("[cli, gateway]", `[cli, gateway, ${Object.keys(names).join(", ")}]`);

/** The release in a clone under the project's name, of the services that the story needs. */
const project = async () => {
  const [gateway, amqp, ui] = [await freePort(), await freePort(), await freePort()];
  const env = {
    ...process.env,
    COMPOSE_PROJECT_NAME: `rockbot-test-${randomBytes(4).toString("hex")}`,
    ROCKBOT_GATEWAY_PORT: String(gateway),
    ROCKBOT_AMQP_PORT: String(amqp),
    ROCKBOT_RABBITMQ_UI_PORT: String(ui),
  };
  const compose = async (cwd: string, ...args: readonly string[]): Promise<string> => {
    const { stdout } = await exec("docker", ["compose", "--progress", "quiet", ...args], {
      cwd,
      env,
      timeout: UP_MS,
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout;
  };
  return {
    compose,
    up: (cwd: string) => compose(cwd, "up", "--build", "--wait", "gateway", "scheduler"),
    url: `http://127.0.0.1:${gateway}`,
  };
};

const tasksOf = async (client: GatewayClient): Promise<readonly string[]> => {
  const { body } = await client.call("list_scheduled_tasks", {});
  return (
    (body as { readonly structured?: { readonly tasks: readonly { readonly name: string }[] } }).structured?.tasks ?? []
  )
    .map(({ name }) => name)
    .sort();
};

test.skipIf(lacksLastRelease !== undefined)(
  `an upgrade of compose from the last release keeps tasks and claims over a restart of Redis, shuts out whom a new policy shuts out, and can be rolled back (${lacksLastRelease ?? LAST_RELEASE})`,
  { timeout: 1_800_000 },
  async () => {
    using folder = temporaryFolder();
    await using made = new AsyncDisposableStack();
    const [before, after] = [
      await cloneAt(join(folder.path, "before"), LAST_RELEASE),
      await cloneAt(join(folder.path, "after"), "HEAD"),
    ];
    const { compose, up, url } = await project();
    made.defer(async () => void (await compose(after, "--profile", "*", "down", "--volumes", "--timeout", "30")));
    const [alice, bob] = [gatewayClient(url, ALICE), gatewayClient(url, BOB)];
    const schedule = (name: string) =>
      alice.call(
        "schedule_task",
        { name, cron: "0 0 1 1 *", description: "Nothing." },
        { "idempotency-key": `of-${name}` },
      );
    const tasks = ["one", "three", "two"];

    const oldPlace = join(before, "docker/policy.yaml");
    const policy = withCallers(readFileSync(oldPlace, "utf8"), { alice: ALICE, bob: BOB });
    writeFileSync(oldPlace, policy);
    await up(before);
    const answers = new Map<string, unknown>();
    for (const name of tasks) answers.set(name, await schedule(name));
    expect(await tasksOf(alice)).toEqual(tasks);

    // The operator's file at its old place is refused in words, and moved as docs/operate/upgrade.md says.
    const [stale, place] = [join(after, "docker/policy.yaml"), join(after, "docker/policy/policy.yaml")];
    writeFileSync(stale, policy);
    await expect(up(after)).rejects.toThrow();
    expect(await compose(after, "logs", "init")).toContain(
      "docker/policy.yaml: nobody reads it any more. Move it to docker/policy/policy.yaml",
    );
    renameSync(stale, place);
    await up(after);
    expect(await tasksOf(alice)).toEqual(tasks);
    for (const name of tasks) expect(await schedule(name)).toEqual(answers.get(name)); // the call of before, and no second one

    await schedule("four");
    await compose(after, "kill", "redis");
    await compose(after, "up", "--wait", "redis");
    await expect.poll(() => tasksOf(alice)).toEqual(["four", ...tasks]);

    expect((await bob.call("list_scheduled_tasks", {})).status).toBe(200);
    const next = folder.write("next.yaml", policy.replace(/^ {2}bob: .*\n/m, "").replaceAll(", bob]", "]"));
    chmodSync(next, 0o644);
    renameSync(next, place);
    await expect.poll(async () => (await bob.call("list_scheduled_tasks", {})).status, { timeout: TAKEN_MS }).toBe(401);
    expect(await tasksOf(alice)).toEqual(["four", ...tasks]);

    // As docs/operate/upgrade.md says: the release before loses at its start what Redis has not written anew.
    const password = (
      await compose(after, "run", "--rm", "init", "compose", "secret", "ROCKBOT_PASSWORD_REDIS")
    ).trim();
    const redis = (...args: readonly string[]) =>
      compose(after, "exec", "-T", "-e", `REDISCLI_AUTH=${password}`, "redis", "redis-cli", ...args);
    await redis("bgrewriteaof");
    await expect
      .poll(() => redis("info", "persistence"))
      .toMatch(/aof_rewrite_in_progress:0.*aof_rewrite_scheduled:0/s);
    await up(before);
    expect(await tasksOf(alice)).toEqual(["four", ...tasks]);
  },
);
