import { type RunningProcess, startProgram, untilReady } from "../../services/start-service.ts";
import type { EffectServiceOptions } from "./effect-service-options.ts";

const MAIN = "test/faults/effects/effect-service.ts";

/**
 * The service of effect-service.ts as a process of its own, once it takes calls.
 * @param nodeArgs options of Node itself
 */
export function startEffectService(
  options: EffectServiceOptions,
  nodeArgs: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<RunningProcess> {
  return untilReady(options.service, startProgram(MAIN, { args: [JSON.stringify(options)], nodeArgs, env }), "ready\n");
}

export interface KeptService extends AsyncDisposable {
  /** How often it has died so far. */
  readonly deaths: number;
  /** Ends its process by SIGKILL: the next is started at once. */
  kill(): void;
}

/** The same, started again each time it dies, until disposed. */
export async function keepEffectService(options: EffectServiceOptions): Promise<KeptService> {
  let running = await startEffectService(options);
  let isStopping = false;
  let deaths = 0;
  const watch = (async () => {
    for (;;) {
      await running.ended;
      if (isStopping) return;
      deaths++;
      running = startProgram(MAIN, { args: [JSON.stringify(options)] }); // it may die at once, so nobody waits until it is ready
    }
  })();
  return {
    get deaths() {
      return deaths;
    },
    kill: () => running.kill("SIGKILL"),
    async [Symbol.asyncDispose]() {
      isStopping = true;
      await running[Symbol.asyncDispose]();
      await watch;
    },
  };
}
