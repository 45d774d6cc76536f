import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { LoopOptions, LoopResult } from "./closed-loop.ts";
import type { Place } from "./contender.ts";
import type { Order } from "./peer.ts";

export type Role = "caller" | "service";

/** A process of a contender. */
export interface Peer extends AsyncDisposable {
  round(options: LoopOptions): Promise<LoopResult>;
  /** User and system time since its start, in microseconds. */
  cpuUs(): Promise<number>;
}

const V8_FLAGS = [
  // V8 makes the space of young objects small while a process waits for its turn, which is dear once it begins again: this much is left. It may grow beyond.
  "--min-semi-space-size=16",
  // As in our images, whose Dockerfile says why.
  "--no-allocation-site-pretenuring",
];
const READY_MS = 30_000;
const ANSWER_MS = 90_000;

/** @param profiles the folder for CPU profiles, if they are wanted @throws {Error} with its words if the peer does not start */
export async function startPeer(file: string, role: Role, place: Place, profiles: string | undefined): Promise<Peer> {
  const profiling = profiles === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profiles}`, `--cpu-prof-name=${nameOf(file)}-${role}.cpuprofile`];
  const execArgv = [...V8_FLAGS, ...profiling];
  const child = fork(join(import.meta.dirname, "peer.ts"), [file, role, JSON.stringify(place)], { execArgv, stdio: ["ignore", "ignore", "pipe", "ipc"] });
  let words = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    words = (words + chunk.toString()).slice(-2_000);
  });

  async function answer(ms: number): Promise<unknown> {
    const over = new AbortController();
    const signal = AbortSignal.any([over.signal, AbortSignal.timeout(ms)]);
    try {
      const [message] = (await Promise.race([once(child, "message", { signal }), once(child, "exit", { signal }).then(() => [{ error: "it has ended" }])])) as [
        { readonly result?: unknown; readonly error?: string },
      ];
      if (message.error !== undefined) throw new Error(`The ${role} of ${nameOf(file)} fails: ${message.error}\n${words}`);
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

  await answer(READY_MS);
  return {
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
