import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { LoopOptions, LoopResult } from "./closed-loop.ts";
import type { Place } from "./contender.ts";
import type { Order } from "./peer.ts";

export type Role = "caller" | "front" | "service";

/** A process of a contender. */
export interface Peer extends AsyncDisposable {
  /** Where a process in between is reached. */
  readonly address: string | undefined;
  round(options: LoopOptions): Promise<LoopResult>;
  /** User and system time since its start, in microseconds. */
  cpuUs(): Promise<number>;
}

/** The flags of our images, for all alike: the Dockerfile says why. */
const dockerfile = readFileSync(join(import.meta.dirname, "../../Dockerfile"), "utf8");
export const V8_FLAGS: readonly string[] = [...dockerfile.matchAll(/^(?:ENV NODE_OPTIONS=|ENTRYPOINT ).*$/gm)].flatMap(
  ([line]) => line.match(/--[a-z0-9=-]+/g) ?? [],
);
const READY_MS = 30_000;
const ANSWER_MS = 90_000;

export interface StartPeerOptions {
  /** The folder for CPU profiles, if they are wanted. */
  readonly profiles: string | undefined;
  /** Where the process in between is reached, if there is one. */
  readonly front?: string | undefined;
}

/** @throws {Error} with its words if the peer does not start */
export async function startPeer(
  file: string,
  role: Role,
  place: Place,
  { profiles, front }: StartPeerOptions,
): Promise<Peer> {
  const profiling =
    profiles === undefined
      ? []
      : ["--cpu-prof", `--cpu-prof-dir=${profiles}`, `--cpu-prof-name=${nameOf(file)}-${role}.cpuprofile`];
  const execArgv = [...V8_FLAGS, ...profiling];
  const child = fork(
    join(import.meta.dirname, "peer.ts"),
    [file, role, JSON.stringify(place), ...(front === undefined ? [] : [front])],
    {
      execArgv,
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    },
  );
  let words = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    words = (words + chunk.toString()).slice(-2_000);
  });

  async function answer(ms: number): Promise<unknown> {
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, AbortSignal.timeout(ms)]);
    try {
      const [message] = (await Promise.race([
        once(child, "message", { signal }),
        once(child, "exit", { signal }).then(() => [{ error: "it has ended" }]),
      ])) as [{ readonly result?: unknown; readonly error?: string }];
      if (message.error !== undefined)
        throw new Error(`The ${role} of ${nameOf(file)} fails: ${message.error}\n${words}`);
      return message.result;
    } finally {
      over.abort();
    }
  }
  function ask(order: Order): Promise<unknown> {
    const answered = answer(ANSWER_MS);
    child.send(order);
    return answered;
  }

  const address = (await answer(READY_MS)) as string | undefined;
  return {
    address,
    round: async (options) => (await ask({ kind: "round", options })) as LoopResult,
    cpuUs: async () => (await ask({ kind: "cpu" })) as number,
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null) return;
      const ended = once(child, "exit", { signal: AbortSignal.timeout(5_000) });
      child.send({ kind: "end" } satisfies Order);
      await ended.catch(() => child.kill("SIGKILL"));
    },
  };
}

const nameOf = (file: string): string => file.replace(/^.*\//, "").replace(/\.\w+$/, "");
