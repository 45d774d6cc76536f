import type { ToolKind } from "./effects/effect-tools.ts";
import { Ledger, type LedgerReport } from "./effects/ledger.ts";
import type { Scene } from "./scene.ts";

export interface LoadOnSceneOptions {
  readonly perSecond: number;
  readonly deadlineMs: number;
  readonly kind: ToolKind;
  /** Ends the load by itself after so many calls. @default none */
  readonly maxCalls?: number | undefined;
  /** How many callers share the load: each may have 256 calls out. @default 10 */
  readonly callers?: number | undefined;
  readonly holdMs?: number | undefined;
}

/** Calls that are being made at an even rate. Disposal ends them without a report. */
export interface Load extends AsyncDisposable {
  /** Resolves once `maxCalls` have been made and have ended. */
  readonly done: Promise<void>;
  /** Calls made so far. */
  readonly asked: number;
  /** When the first answer after `at` came, on the clock of `performance.now()`; undefined if none has yet. */
  firstAnswerAfter(at: number): number | undefined;
  /** As Ledger.partAnswered, once the load has ended. */
  partAnswered(from: number, to: number): number;
  /** Makes no more calls, waits for those that are out, and says what became of all. */
  stop(): Promise<LedgerReport>;
}

/** Resolves once the callers know the tool. */
export async function startLoad(
  scene: Scene,
  { perSecond, deadlineMs, kind, maxCalls, callers: width = 10, holdMs = 0 }: LoadOnSceneOptions,
): Promise<Load> {
  const callers = await Promise.all(Array.from({ length: width }, (_, index) => scene.addCaller(`caller-${index}`)));
  await Promise.all(callers.map((caller) => caller.discovered()));
  const ledger = new Ledger();
  const stop = new AbortController();
  let next = 0;
  const done = ledger.run({
    perSecond,
    deadlineMs,
    maxCalls,
    signal: stop.signal,
    async call(id) {
      const caller = callers[next++ % width];
      return (await caller?.call(scene.tool(kind), { id, holdMs }, { timeoutMs: deadlineMs }))?.content ?? "";
    },
  });
  return {
    done,
    get asked() {
      return ledger.asked;
    },
    firstAnswerAfter: (at) => ledger.firstAnswerAfter(at),
    partAnswered: (from, to) => ledger.partAnswered(from, to),
    async stop() {
      stop.abort();
      await done;
      ledger.addEffects(await scene.ledger.count("effect"));
      return ledger.report();
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
    },
  };
}
