import { silentLogger } from "@rockbot/bus";
import { StoreFullError } from "@rockbot/records";
import { claimKeyText } from "@rockbot/records/claims";
import {
  connectStore,
  parseRedisAddress,
  type RedisAddress,
  RedisConnection,
  type RedisStoreOptions,
  type RedisUrl,
} from "@rockbot/records/redis";
import {
  END_KEPT_MS,
  MAX_ENDED_BYTES,
  MAX_ENDED_RUNS,
  MAX_OPEN_BYTES,
  MAX_OPEN_RUNS,
  type Run,
  type RunKey,
  RunState,
} from "../../run.ts";
import type { Due, EndedRun, RunStore, StoredRun } from "../../run-store.ts";
import { dueAt } from "../../transitions.ts";
import { tooManyOpen } from "../too-many-open.ts";
import { commands, readers } from "./commands.ts";

/**
 * Runs in Redis 7.0 or later, shared by all instances of a service. The gateways read them, whose users may write nothing
 * there. Each operation is one round trip, and ends within 500 ms.
 * @param url `redis://user:password@host:port/database`, or `rediss://…`
 * @throws {RangeError} if the address makes no sense
 * @throws {StoreUnavailableError} if Redis refuses: a wrong password, missing rights
 */
export async function connectRedisRunStore(url: RedisUrl, options: RedisRunStoreOptions = {}): Promise<RunStore> {
  return connectStore(new RedisRunStore(parseRedisAddress(url), options), options);
}

export interface RedisRunStoreOptions extends RedisStoreOptions {
  /** True if the operator vouches that Redis keeps acknowledged writes, as with `appendfsync always`. @default false */
  readonly keepsAll?: boolean | undefined;
}

/** `appendfsync everysec` syncs once a second, and lets a write wait up to two seconds for a slow disk. */
const EVERYSEC_FORGETS_MS = 2_500;
/** Puts what does not wait for people behind what does, in milliseconds: more than any time is. */
const AFTER_PARKED = 1e13;

class RedisRunStore implements RunStore {
  readonly #connection: RedisConnection<typeof commands>;
  readonly #prefix: string;
  readonly forgetsMs: number;

  constructor(
    address: RedisAddress,
    { log = silentLogger, prefix = "rockbot", ca, keepsAll = false }: RedisRunStoreOptions,
  ) {
    this.forgetsMs = keepsAll ? 0 : EVERYSEC_FORGETS_MS;
    this.#prefix = `${prefix}:{runs}`;
    this.#connection = new RedisConnection(address, {
      log,
      ca,
      purpose: "runs",
      whileAway: "calls that need an approval, or are detached, are refused, and those that wait go on waiting",
      scripts: commands,
    });
  }

  start(timeoutMs: number): Promise<void> {
    return this.#connection.start(timeoutMs);
  }

  async create(run: Run): Promise<boolean> {
    const written = await this.#write("", run);
    if (written === -1) throw new StoreFullError(tooManyOpen(run.caller, run.service));
    return written === 1;
  }

  async read(key: RunKey): Promise<StoredRun | undefined> {
    const answer = await this.#connection.run("read a run", (redis) =>
      redis.eval_ro(readers.readRun, 1, this.#record(key)),
    );
    const [now, version, json] = answer as [number, string | undefined, string];
    return version === undefined ? undefined : { run: JSON.parse(json) as Run, version: Number(version), now };
  }

  async replace({ version }: StoredRun, run: Run): Promise<boolean> {
    return (await this.#write(String(version), run)) === 1;
  }

  async due(service: string, limit: number): Promise<Due> {
    const answer = await this.#connection.run("look for runs that are due", (redis) =>
      redis.dueRuns(this.#index(service, "due"), this.#index(service, "open"), limit, this.#index(service, "run:")),
    );
    const [now, nextMs, ...records] = answer as [number, number, ...string[]];
    const runs: StoredRun[] = [];
    for (let at = 0; at < records.length; at += 2)
      runs.push({ run: JSON.parse(records[at + 1] as string) as Run, version: Number(records[at]), now });
    return { runs, nextMs: nextMs < 0 ? undefined : nextMs };
  }

  async open(service: string, limit: number): Promise<readonly Run[]> {
    const answer = await this.#connection.run("list runs", (redis) =>
      redis.eval_ro(readers.openRuns, 1, this.#index(service, "open"), limit, this.#index(service, "run:")),
    );
    return (answer as string[]).map((json) => JSON.parse(json) as Run);
  }

  async ended(service: string, since: number, limit: number): Promise<readonly EndedRun[]> {
    const answer = await this.#connection.run("list runs that have ended", (redis) =>
      redis.eval_ro(readers.endedRuns, 1, this.#index(service, "ended"), since, limit, this.#index(service, "run:")),
    );
    const found: EndedRun[] = [];
    const records = answer as string[];
    for (let at = 0; at < records.length; at += 2)
      found.push({ notedAt: Number(records[at]), run: JSON.parse(records[at + 1] as string) as Run });
    return found;
  }

  async now(): Promise<number> {
    const [seconds, micros] = (await this.#connection.run("ask for the time", (redis) => redis.time())) as number[];
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection.close();
  }

  async #write(version: string, run: Run): Promise<number> {
    const { service, caller, state, createdAt, expiresAt, end } = run;
    const written = await this.#connection.run("write a run", (redis) =>
      redis.replaceRun(
        this.#record(run),
        this.#index(service, "due"),
        this.#index(service, "open"),
        this.#index(service, `of:${caller}`),
        this.#index(service, "ended"),
        this.#index(service, `ended:${caller}`),
        version,
        JSON.stringify(run),
        dueAt(run) ?? "",
        state === RunState.Ended ? "0" : "1",
        Math.max(expiresAt, end?.at ?? 0) + END_KEPT_MS,
        claimKeyText(run),
        state === RunState.Parked ? createdAt : createdAt + AFTER_PARKED,
        MAX_OPEN_RUNS,
        MAX_OPEN_BYTES,
        this.#index(service, "run:"),
        END_KEPT_MS,
        MAX_ENDED_RUNS,
        MAX_ENDED_BYTES,
      ),
    );
    return Number(written);
  }

  #record(key: RunKey): string {
    return this.#index(key.service, `run:${claimKeyText(key)}`);
  }

  #index(service: string, name: string): string {
    return `${this.#prefix}:${service}:${name}`;
  }
}
