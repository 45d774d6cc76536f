import { silentLogger } from "@rockbot/bus";
import { StoreUnavailableError } from "@rockbot/records";
import {
  connectStore,
  leaseCommands,
  parseRedisAddress,
  type RedisAddress,
  RedisConnection,
  RedisRoom,
  type RedisStoreOptions,
  type RedisUrl,
} from "@rockbot/records/redis";
import { withoutTexts } from "../memory-task-store.ts";
import {
  HOOK_LEASE_MS,
  KEPT_MS,
  MAX_OPEN,
  MAX_TASKS,
  type PushHook,
  type StoredHook,
  type StoredTask,
  stateToken,
  type TaskNote,
  type TaskStanding,
  type TaskStore,
  type TaskTexts,
  tasksFull,
} from "../task-store.ts";

/** In Lua: Redis runs a script whole or not at all. */
const taskCommands = {
  ...leaseCommands,
  /**
   * KEYS: task, its caller's tasks, those at work, those that wait. ARGV: state before (or empty); state now; note,
   * texts, id, time; KEPT_MS; which of the last two keys it stands in, or 0; the caller's bounds for tasks and bytes;
   * prefixes of names of tasks, of their hooks and of sent news; 1 if it is to be at work. The caller's other tasks
   * that have ended make room. Returns 1, 0 if the task stood otherwise, or -1 if it does not fit.
   */
  writeTask: {
    numberOfKeys: 4,
    lua: `
local now = redis.call('HGET', KEYS[1], 'state')
if now and now ~= ARGV[1] then return 0 end
local count, bytes, ended = 1, #ARGV[3] + #ARGV[4], {}
for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1, 'REV')) do
  local size = redis.call('HSTRLEN', ARGV[11] .. id, 'note') + redis.call('HSTRLEN', ARGV[11] .. id, 'texts')
  if size == 0 then redis.call('ZREM', KEYS[2], id)
  elseif id ~= ARGV[5] then
    if redis.call('ZSCORE', KEYS[3], id) or redis.call('ZSCORE', KEYS[4], id) then count, bytes = count + 1, bytes + size
    else ended[#ended + 1] = {id, size} end
  end
end
local maxCount, maxBytes = tonumber(ARGV[9]), tonumber(ARGV[10])
if ARGV[14] == '1' and (count > maxCount or bytes > maxBytes) then return -1 end
for _, task in ipairs(ended) do
  count, bytes = count + 1, bytes + task[2]
  if count > maxCount or bytes > maxBytes then
    redis.call('DEL', ARGV[11] .. task[1], ARGV[12] .. task[1], ARGV[13] .. task[1])
    redis.call('ZREM', KEYS[2], task[1])
  end
end
redis.call('HSET', KEYS[1], 'state', ARGV[2], 'note', ARGV[3], 'texts', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[7])
redis.call('ZADD', KEYS[2], ARGV[6], ARGV[5])
redis.call('PEXPIRE', KEYS[2], ARGV[7])
for i = 3, 4 do
  if tonumber(ARGV[8]) == i then redis.call('ZADD', KEYS[i], ARGV[6], ARGV[5]) else redis.call('ZREM', KEYS[i], ARGV[5]) end
end
return 1`,
  },
} as const;

const PLACES: Readonly<Partial<Record<TaskStanding, number>>> = { working: 3, "input-required": 4 };

/**
 * Tasks in Redis, shared by all gateways that use it. Each operation ends within 500 ms for each of its round trips.
 * @param url `redis://user:password@host:port/database`, or `rediss://…`
 * @throws {RangeError} if the address makes no sense
 * @throws {StoreUnavailableError} if Redis refuses: a wrong password, missing rights
 */
export async function connectRedisTaskStore(url: RedisUrl, options: RedisStoreOptions = {}): Promise<TaskStore> {
  return connectStore(new RedisTaskStore(parseRedisAddress(url), options), options);
}

class RedisTaskStore implements TaskStore {
  readonly #connection: RedisConnection<typeof taskCommands>;
  readonly #prefix: string;
  readonly #room: RedisRoom<typeof taskCommands>;

  constructor(address: RedisAddress, { log = silentLogger, prefix = "rockbot", ca }: RedisStoreOptions) {
    this.#prefix = `${prefix}:{tasks}`;
    this.#connection = new RedisConnection(address, {
      log,
      ca,
      purpose: "tasks of A2A clients",
      whileAway: "no task is begun or told of; those that run go on",
      scripts: taskCommands,
    });
    this.#room = new RedisRoom(this.#connection);
  }

  start(timeoutMs: number): Promise<void> {
    return this.#connection.start(timeoutMs);
  }

  async write(task: StoredTask, before: TaskNote | undefined): Promise<boolean> {
    const { id, by, updatedAt, standing, asked, answer, earlier } = task;
    const own = this.#callers(by);
    const [note, texts] = [JSON.stringify(withoutTexts(task)), JSON.stringify({ asked, answer, earlier })];
    const isBegun = standing === "working";
    if (isBegun && !(await this.#room.take(Buffer.byteLength(note) + Buffer.byteLength(texts))))
      throw new StoreUnavailableError(
        "Cannot write a task: Redis reserves the rest of its memory for more important records",
      );
    const { most } = await this.#room.share("tasks");
    const bounds = [MAX_TASKS, most, this.#task(""), this.#hooks(""), this.#told(""), isBegun ? 1 : 0] as const;
    const states = [before === undefined ? "" : stateToken(before), stateToken(task)] as const;
    const written = await this.#connection.run("write a task", (redis) =>
      redis.writeTask(
        this.#task(id),
        own,
        this.#open,
        this.#waiting,
        ...states,
        note,
        texts,
        id,
        updatedAt,
        KEPT_MS,
        PLACES[standing] ?? 0,
        ...bounds,
      ),
    );
    if (Number(written) === -1) throw tasksFull(`${most} bytes of texts`);
    return Number(written) === 1;
  }

  async read(by: string, id: string): Promise<StoredTask | undefined> {
    const task = await this.#read(id);
    return task?.by === by ? task : undefined;
  }

  async list(by: string): Promise<readonly TaskNote[]> {
    const ids = (await this.#connection.run("list tasks", (redis) =>
      redis.zrange(this.#callers(by), "0", "-1", "REV"),
    )) as string[];
    return await this.#notes(ids);
  }

  async open(): Promise<readonly StoredTask[]> {
    const oldest = Date.now() - KEPT_MS;
    await this.#connection.run("forget tasks that are over", (redis) =>
      redis.zremrangebyscore(this.#open, "-inf", oldest),
    );
    const ids = (await this.#connection.run("list open tasks", (redis) =>
      redis.zrange(this.#open, String(-MAX_OPEN), "-1"),
    )) as string[];
    const tasks: StoredTask[] = [];
    for (const id of ids) {
      const task = await this.#read(id);
      if (task?.standing === "working") tasks.push(task);
    }
    return tasks;
  }

  async waiting(since: number): Promise<readonly TaskNote[]> {
    await this.#connection.run("forget tasks that are over", (redis) =>
      redis.zremrangebyscore(this.#waiting, "-inf", Date.now() - KEPT_MS),
    );
    const ids = (await this.#connection.run("list waiting tasks", (redis) =>
      redis.zrangebyscore(this.#waiting, "-inf", `(${since}`, "LIMIT", 0, MAX_OPEN),
    )) as string[];
    return await this.#notes(ids);
  }

  async writeHook(hook: PushHook): Promise<void> {
    const { taskId, id, by } = hook;
    const [hooks, told] = [this.#hooks(taskId), this.#told(taskId)];
    const results = await this.#connection.run("write a push notification config", (redis) => {
      const pipeline = redis.pipeline();
      pipeline.hset(hooks, id, JSON.stringify(hook)).pexpire(hooks, KEPT_MS).hdel(told, id).del(this.#lease(hook));
      return pipeline.zadd(this.#hooked, Date.now(), JSON.stringify([taskId, id, by])).exec();
    });
    valuesOf(results);
  }

  async tell({ taskId, id, by }: PushHook, told: number): Promise<void> {
    const key = this.#told(taskId);
    const results = await this.#connection.run("note what was sent", (redis) => {
      const pipeline = redis.pipeline().hset(key, id, String(told)).pexpire(key, KEPT_MS);
      if (told === Number.POSITIVE_INFINITY) pipeline.zrem(this.#hooked, JSON.stringify([taskId, id, by]));
      return pipeline.exec();
    });
    valuesOf(results);
  }

  async holdHook(hook: Pick<PushHook, "taskId" | "id">, holder: string): Promise<boolean> {
    const lease = this.#lease(hook);
    const held = await this.#connection.run("hold a push notification config", (redis) =>
      redis.holdLease(lease, `${lease}:fence`, holder, HOOK_LEASE_MS),
    );
    return (held as string[])[0] === holder;
  }

  async releaseHook(hook: Pick<PushHook, "taskId" | "id">, holder: string): Promise<void> {
    await this.#connection.run("release a push notification config", (redis) =>
      redis.releaseLease(this.#lease(hook), holder),
    );
  }

  async dropHook({ taskId, id }: Pick<PushHook, "taskId" | "id">): Promise<void> {
    const hook = (await this.hooks(taskId)).find((each) => each.id === id);
    if (hook === undefined) return;
    const results = await this.#connection.run("drop a push notification config", (redis) =>
      redis
        .pipeline()
        .hdel(this.#hooks(taskId), id)
        .zrem(this.#hooked, JSON.stringify([taskId, id, hook.by]))
        .exec(),
    );
    valuesOf(results);
  }

  async hooks(taskId: string): Promise<readonly StoredHook[]> {
    const results = await this.#connection.run("read push notification configs", (redis) =>
      redis.pipeline().hgetall(this.#hooks(taskId)).hgetall(this.#told(taskId)).exec(),
    );
    const [hooks, told] = valuesOf(results) as Record<string, string>[];
    return Object.entries(hooks ?? {}).map(([id, hook]) => ({
      ...(JSON.parse(hook) as PushHook),
      told: Number(told?.[id] ?? 0),
    }));
  }

  async hooked(): Promise<readonly Pick<PushHook, "by" | "taskId">[]> {
    await this.#connection.run("forget hooks that are over", (redis) =>
      redis.zremrangebyscore(this.#hooked, "-inf", Date.now() - KEPT_MS),
    );
    const open = (await this.#connection.run("list hooks", (redis) =>
      redis.zrange(this.#hooked, String(-MAX_OPEN), "-1"),
    )) as string[];
    const byTask = new Map(
      open.map((member) => JSON.parse(member) as string[]).map(([taskId = "", , by = ""]) => [taskId, by]),
    );
    return [...byTask].map(([taskId, by]) => ({ taskId, by }));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection.close();
  }

  async #notes(ids: readonly string[]): Promise<TaskNote[]> {
    const notes = await this.#connection.run("read tasks", (redis) => {
      const pipeline = redis.pipeline();
      for (const id of ids) pipeline.hget(this.#task(id), "note");
      return pipeline.exec();
    });
    return valuesOf(notes).flatMap((note) => (typeof note === "string" ? [JSON.parse(note) as TaskNote] : []));
  }

  async #read(id: string): Promise<StoredTask | undefined> {
    const found = await this.#connection.run("read a task", (redis) => redis.hmget(this.#task(id), "note", "texts"));
    const [note, texts] = found as (string | null)[];
    if (note == null || texts == null) return undefined;
    // A release before this one wrote tasks of one turn.
    return {
      turnId: id,
      earlier: [],
      ...(JSON.parse(note) as Omit<TaskNote, "turnId">),
      ...(JSON.parse(texts) as Omit<TaskTexts, "earlier">),
    };
  }

  get #open(): string {
    return `${this.#prefix}:open`;
  }

  get #waiting(): string {
    return `${this.#prefix}:waiting`;
  }

  get #hooked(): string {
    return `${this.#prefix}:hooked`;
  }

  #hooks(taskId: string): string {
    return `${this.#prefix}:hooks:${taskId}`;
  }

  #lease({ taskId, id }: Pick<PushHook, "taskId" | "id">): string {
    return `${this.#prefix}:lease:${taskId}:${id}`;
  }

  #told(taskId: string): string {
    return `${this.#prefix}:told:${taskId}`;
  }

  #task(id: string): string {
    return `${this.#prefix}:task:${id}`;
  }

  #callers(by: string): string {
    return `${this.#prefix}:of:${by}`;
  }
}

/** @throws {StoreUnavailableError} if one of the commands was refused */
function valuesOf(results: unknown): unknown[] {
  return ((results ?? []) as [Error | null, unknown][]).map(([error, value]) => {
    if (error !== null) throw new StoreUnavailableError(`Cannot keep tasks: Redis refuses (${error.message})`);
    return value;
  });
}
