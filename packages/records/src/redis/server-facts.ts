/** The facts that a Redis states about itself. */
export interface ServerFacts {
  /** Differs each time it is started; undefined if it does not say. */
  readonly run: string | undefined;
  /** Is another once it has been a replica of somebody, and has taken over that one's data. */
  readonly history: string;
  /** True if it takes writes only by following another. */
  readonly isReplica: boolean;
  /** True if it logs each change to disk; undefined if it does not say. */
  readonly isLogged: boolean | undefined;
  /** True if a full memory makes it drop records that it was to keep, instead of refusing more. */
  readonly mayEvict: boolean;
}

/** Reads the answer to `INFO`. */
export function readServerFacts(info: string): ServerFacts {
  const facts = new Map(
    info.split("\r\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]),
  );
  const log = facts.get("aof_enabled");
  const hasBound = facts.get("maxmemory") !== "0";
  return {
    run: facts.get("run_id"),
    history: facts.get("master_replid") ?? "",
    isReplica: facts.get("role") === "slave",
    isLogged: log === undefined ? undefined : log === "1",
    mayEvict: hasBound && (facts.get("maxmemory_policy") ?? "noeviction") !== "noeviction",
  };
}
