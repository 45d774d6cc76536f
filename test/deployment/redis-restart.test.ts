import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { silentLogger } from "@rockbot/bus";
import { SharedRecords } from "@rockbot/records/shared";
import { openState } from "@rockbot/services/state";
import { run, startOwnRedis, type TemporaryFolder, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { initCompose } from "../../packages/cli/src/commands/compose.ts";
import { services } from "./services.ts";

const root = dirname(dirname(import.meta.dirname));
/** A service that keeps something there. */
const SERVICE = "scheduler";

/** Redis' users, as each deployment makes them. `default` and the services have `password`. */
const deployments: Readonly<Record<string, (folder: TemporaryFolder, password: string) => Promise<string>>> = {
  compose: async (folder, password) => {
    const given = ["REDIS", SERVICE.toUpperCase()].map((user) => `ROCKBOT_PASSWORD_${user}=${password}\n`);
    const [from, file, out] = [
      folder.write("given.env", given.join("")),
      join(folder.path, "kept.env"),
      join(folder.path, "out"),
    ];
    await initCompose({ policy: join(root, "docker/policy/policy.yaml"), file, from, out });
    return readFileSync(join(out, "redis/users.acl"), "utf8");
  },
  chart: async (folder, password) => {
    const inside = ["redis", "own-passwords", "passwords", "run"].map((name) => join(folder.path, name));
    for (const path of inside) mkdirSync(path);
    folder.write(
      "redis/users",
      services.flatMap(({ name, usesRedis, redisRules }) => (usesRedis ? `${name} ${redisRules}\n` : [])).join(""),
    );
    for (const name of [
      "own-passwords/reload",
      "own-passwords/replication",
      "own-passwords/sentinel",
      `passwords/${SERVICE}`,
    ])
      folder.write(name, password);
    const script = readFileSync(join(root, "helm/rockbot/files/redis/users.sh"), "utf8");
    const here = script.replaceAll("/etc/rockbot/", `${folder.path}/`).replaceAll("/run/redis/", `${folder.path}/run/`);
    await run("sh", [folder.write("users.sh", here)], { timeoutMs: 60_000 });
    return readFileSync(join(folder.path, "run/users.acl"), "utf8");
  },
};

test.each(Object.entries(deployments))(
  "Redis with the users of %s has after a restart what was written in transactions and scripts before",
  async (_, usersOf) => {
    using folder = temporaryFolder();
    await using redis = await startOwnRedis({ users: (password) => usersOf(folder, password) });
    await redis.ctl("config", "set", "appendfsync", "always"); // else what is confirmed may be written a second later
    const url = new URL(redis.url);
    const opened = async (records: SharedRecords) => await openState(["claims", "schedules"], records);
    const [call, claim] = [
      { caller: "me", toolCallId: "1" },
      { owner: "here", requestHash: "hash", leaseMs: 600_000 },
    ];
    const task = {
      key: "1",
      id: "1",
      caller: "me",
      sessionId: "a",
      name: "name",
      cron: "* * * * *",
      zone: "UTC",
      description: "text",
    };
    url.username = SERVICE;
    {
      await using records = new SharedRecords({ redisUrl: url.href, log: silentLogger });
      const { claims, schedules } = await opened(records);
      expect(await (await claims?.())?.claim(call, claim)).toMatchObject({ state: "taken" });
      await schedules?.write({
        key: "1",
        caller: "me",
        version: undefined,
        task: { ...task, isOnce: false, hasReadUntrusted: false, createdAt: 1, nextAt: 1 },
        spend: { day: "2026-01-01", fires: 1, tokens: 1 },
      });
    }
    await redis.kill();
    await redis.restart();

    await using records = new SharedRecords({ redisUrl: url.href, log: silentLogger });
    const { claims, schedules } = await opened(records);
    expect(await (await claims?.())?.claim(call, { ...claim, owner: "there" })).toMatchObject({
      state: "held",
      owner: "here",
    });
    expect(await schedules?.tasksOf("me")).toHaveLength(1);
  },
);
