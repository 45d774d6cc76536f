import { silentLogger } from "@rockbot/bus";
import { newId } from "@rockbot/contracts";
import { StoreFullError } from "@rockbot/records";
import {
  connectStore,
  parseRedisAddress,
  type RedisAddress,
  RedisConnection,
  RedisRoom,
  type RedisStoreOptions,
  type RedisUrl,
} from "@rockbot/records/redis";
import { isOver, type ScheduledTask, wakeAtOf } from "../../task/scheduled-task.ts";
import {
  type ChangeOutcome,
  type Look,
  type ScheduleStore,
  type StoredTask,
  type TaskChange,
  tasksFull,
  type Usage,
  type Work,
} from "../schedule-store.ts";
import { commands } from "./commands.ts";

/** How a store in Redis is connected. */
export interface RedisScheduleStoreOptions extends RedisStoreOptions {
  /**
   * The clock to use instead of Redis's, in Unix milliseconds.
   * @default Redis's, so that the clocks of the replicas are compared with nothing
   */
  readonly clock?: (() => number) | undefined;
}

/**
 * Tasks in Redis, shared by all replicas that use it. They have no time to live: in a Redis that throws keys away when
 * it is full, or forgets them at a restart, they are lost.
 * @param url `redis://user:password@host:port/database`, or `rediss://…`
 * @throws {RangeError} if the address makes no sense
 * @throws {StoreUnavailableError} if Redis refuses: a wrong password, missing rights
 */
export async function connectRedisScheduleStore(
  url: RedisUrl,
  options: RedisScheduleStoreOptions = {},
): Promise<ScheduleStore> {
  return connectStore(new RedisScheduleStore(parseRedisAddress(url), options), options);
}

class RedisScheduleStore implements ScheduleStore {
  readonly where = "Redis";
  readonly isShared = true;
  readonly #connection: RedisConnection<typeof commands>;
  /** The braces make a cluster keep all in one place, as a script needs its keys. */
  readonly #prefix: string;
  readonly #clock: (() => number) | undefined;
  readonly #room: RedisRoom<typeof commands>;

  constructor(address: RedisAddress, { log = silentLogger, prefix = "rockbot", ca, clock }: RedisScheduleStoreOptions) {
    this.#prefix = `${prefix}:{schedules}`;
    this.#clock = clock;
    let hasWarned = false;
    this.#connection = new RedisConnection(address, {
      log,
      ca,
      purpose: "schedules",
      whileAway: "no scheduled task is due, listed or changed",
      scripts: commands,
      prepare: async (redis, { isLogged, mayEvict }) => {
        await redis.ping();
        if (hasWarned) return;
        hasWarned = true;
        if (isLogged === false)
          log.warn(
            { redis: address.label },
            "Redis keeps no append-only file, so a restart loses scheduled tasks. Set `appendonly yes`",
          );
        if (mayEvict)
          log.warn(
            { redis: address.label },
            "Redis may evict scheduled tasks when its memory is full. Set `maxmemory-policy noeviction`",
          );
      },
    });
    this.#room = new RedisRoom(this.#connection);
  }

  start(timeoutMs: number): Promise<void> {
    return this.#connection.start(timeoutMs);
  }

  async now(): Promise<number> {
    if (this.#clock !== undefined) return this.#clock();
    const [seconds, micros] = (await this.#connection.run("read the time", (redis) => redis.time())) as unknown as [
      number,
      number,
    ];
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  }

  async read(key: string): Promise<StoredTask | undefined> {
    const text = await this.#connection.run("read a scheduled task", (redis) => redis.hget(this.#key("tasks"), key));
    return typeof text === "string" ? storedOf(text) : undefined;
  }

  async tasksOf(caller: string): Promise<readonly ScheduledTask[]> {
    const texts = await this.#connection.run("list scheduled tasks", (redis) =>
      redis.readTasksOf(this.#key("tasks"), this.#key("of", caller)),
    );
    return (texts as (string | null)[]).flatMap((text) => (text === null ? [] : [storedOf(text).task]));
  }

  async write({ key, caller, version = "", task, maxTasks, spend }: TaskChange): Promise<ChangeOutcome> {
    const { fires = 0, tokens = 0, day = "", most } = spend ?? {};
    const text = task === undefined ? "" : `${newId()}${JSON.stringify(task)}`;
    const share = maxTasks === undefined ? "" : (await this.#room.share("schedules")).most;
    if (maxTasks !== undefined && version === "" && !(await this.#room.take(Buffer.byteLength(text))))
      throw new StoreFullError(
        "Redis has no room left for scheduled tasks. Cancel one that is not needed, or try again later.",
      );
    const outcome = await this.#connection.run("change a scheduled task", (redis) =>
      redis.changeTask(
        ...["tasks", "due", "running"].map((kind) => this.#key(kind)),
        this.#key("of", caller),
        this.#key("spent", day, caller),
        this.#key("over"),
        key,
        version,
        text,
        (task && wakeAtOf(task)) ?? "",
        task?.running?.replica ?? "",
        maxTasks ?? "",
        fires,
        tokens,
        most?.fires ?? "",
        most?.tokens ?? "",
        share,
        task !== undefined && isOver(task) ? (task.keptUntil ?? 0) : "",
        this.#key("of", ""),
      ),
    );
    if (outcome === "no_bytes") throw tasksFull(Number(share));
    return outcome as ChangeOutcome;
  }

  async look({ replica, aliveMs, limit }: Look): Promise<Work> {
    const keys = ["tasks", "due", "running", "replicas"].map((kind) => this.#key(kind));
    const answer = await this.#connection.run("look for scheduled tasks", (redis) =>
      redis.lookForWork(...keys, this.#clock?.() ?? "", replica, aliveMs, limit),
    );
    const [now, nextAt, count, ...texts] = answer as [string, string, number, ...string[]];
    const tasks = (some: readonly string[]) => some.filter(Boolean).map(storedOf);
    return {
      now: Number(now),
      nextAt: nextAt === "" ? undefined : Number(nextAt),
      due: tasks(texts.slice(0, count)),
      orphans: tasks(texts.slice(count)),
    };
  }

  async leave(replica: string): Promise<void> {
    await this.#connection.run("leave the scheduled tasks", (redis) => redis.zrem(this.#key("replicas"), replica));
  }

  async usage(caller: string, day: string): Promise<Usage> {
    const used = await this.#connection.run("read a caller's usage", (redis) =>
      redis.hmget(this.#key("spent", day, caller), "fires", "tokens"),
    );
    const [fires, tokens] = (used as (string | null)[]).map(Number);
    return { fires: fires ?? 0, tokens: tokens ?? 0 };
  }

  async charge(caller: string, day: string, tokens: number): Promise<void> {
    await this.#connection.run("count tokens", (redis) => redis.chargeTokens(this.#key("spent", day, caller), tokens));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }

  #key(...parts: readonly string[]): string {
    return [this.#prefix, ...parts].join(":");
  }
}

const VERSION_LENGTH = 32;

const storedOf = (text: string): StoredTask => ({
  version: text.slice(0, VERSION_LENGTH),
  task: JSON.parse(text.slice(VERSION_LENGTH)) as ScheduledTask,
});
