import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { PageAnswer, PageRequest } from "./contender-main.ts";

/** A contender in its process. A page that takes too long ends the process; the next page begins in a new one. */
export interface RunningContender extends AsyncDisposable {
  convert(request: PageRequest): Promise<PageAnswer>;
}

/** For one page: the slowest take a few seconds, on a busy machine many. */
const PAGE_MS = 300_000;

/** Starts the process of the contender whose code is `contenders/{file}`. @throws {Error} if it does not get ready */
export async function startContender(file: string): Promise<RunningContender> {
  let child = await startProcess(file);
  let peakMb = 0;
  return {
    async convert(request) {
      if (child.exitCode !== null || child.signalCode !== null) child = await startProcess(file);
      const answer = await ask(child, request);
      peakMb = Math.max(peakMb, answer.peakMb);
      return { ...answer, peakMb };
    },
    [Symbol.asyncDispose]: () => end(child),
  };
}

async function startProcess(file: string): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, "contender-main.ts"), [file], {
    serialization: "advanced",
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const ended = once(child, "exit").then(() => {
    throw new Error(`Cannot measure: the process of ${file} ended before it was ready.`);
  });
  await Promise.race([once(child, "message", { signal: AbortSignal.timeout(PAGE_MS) }), ended]);
  ended.catch(() => {}); // an end while a page is converted is that page's failure
  return child;
}

async function ask(child: ChildProcess, request: PageRequest): Promise<PageAnswer> {
  const given = new AbortController();
  const signal = AbortSignal.any([given.signal, AbortSignal.timeout(PAGE_MS)]);
  try {
    child.send(request);
    const answered = once(child, "message", { signal }).then(([answer]) => answer as PageAnswer);
    return await Promise.race([answered, once(child, "exit", { signal }).then(() => failed("the process ended"))]);
  } catch {
    await end(child);
    return failed(`no answer within ${PAGE_MS} ms`);
  } finally {
    given.abort();
  }
}

const failed = (failure: string): PageAnswer => ({ markdown: "", failure, cpuMs: 0, peakMb: 0 });

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
