import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../machine/free-port.ts";
import { run } from "../machine/run.ts";
import { createServerProcess } from "../machine/servers/server-process.ts";
import { redisSettings } from "./redis-settings.ts";
import type { StartOwnRedisOptions, TestRedis } from "./test-redis.ts";
import { untilRedisAnswers } from "./until-redis-answers.ts";

export const LOCAL_REDIS = "/usr/bin/redis-server";

/** An installed redis-server with a port and a folder of its own. */
export async function startLocalRedis(options: StartOwnRedisOptions): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), "rockbot-redis-"));
  const data = join(folder, "data");
  await mkdir(data);
  const sentinelFile = join(folder, "sentinel.conf"); // in which it keeps what it knows
  await writeFile(sentinelFile, "");
  const port = await freePort();
  const password = randomBytes(12).toString("hex");
  const aclFile = await usersArguments(join(folder, "users.acl"), await options.users?.(password));
  const env = { PATH: process.env["PATH"], LANG: "C.UTF-8", REDISCLI_AUTH: password };
  const { start, signal, pause, kill } = createServerProcess({
    program: LOCAL_REDIS,
    args: [
      ...(options.isSentinel ? [sentinelFile] : []),
      "--bind",
      "127.0.0.1",
      "--port",
      String(port),
      "--dir",
      data,
      ...redisSettings(password, options),
      ...aclFile,
    ],
    env,
    untilReady: (explain) => untilRedisAnswers(port, password, explain),
  });
  const endAtExit = () => {
    signal("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", endAtExit);
  const stop = async () => {
    process.off("exit", endAtExit);
    await kill();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }

  const url = `redis://:${password}@127.0.0.1:${port}`;
  return {
    url,
    directUrl: async () => url,
    kill,
    async restart({ empty = false } = {}) {
      if (empty) {
        await rm(data, { recursive: true });
        await mkdir(data);
      }
      await start();
    },
    pause,
    resume: async () => signal("SIGCONT"),
    ctl: (...args) => run("redis-cli", ["-p", String(port), ...args], { timeoutMs: 60_000, env }),
    [Symbol.asyncDispose]: stop,
  };
}

async function usersArguments(file: string, users: string | undefined): Promise<string[]> {
  if (users === undefined) return [];
  await writeFile(file, users);
  return ["--aclfile", file];
}
