/** What a Redis says of itself. */
export interface ServerFacts {
  /** Differs each time it is started. */
  readonly run: string;
  /** Whether it logs each change to disk; undefined if it does not say. */
  readonly isLogged: boolean | undefined;
  /** What it does when its memory is full; `noeviction` is to refuse. */
  readonly evictionPolicy: string | undefined;
}

/** Reads the answer to `INFO`. */
export function readServerFacts(info: string): ServerFacts {
  const facts = new Map(info.split("\r\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1)]));
  const log = facts.get("aof_enabled");
  return {
    run: facts.get("run_id") ?? "unknown",
    isLogged: log === undefined ? undefined : log === "1",
    evictionPolicy: facts.get("maxmemory_policy"),
  };
}
