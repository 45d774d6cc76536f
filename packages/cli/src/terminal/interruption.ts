import { takeSignals } from "@rockbot/process";

/** A signal that aborts at the first Ctrl-C or SIGTERM. At one that comes a second later or more the process ends at once, as by that signal. */
export function interruption(): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const signals = ["SIGINT", "SIGTERM"] as const;
  const taken = takeSignals(signals, {
    first: () => controller.abort(),
    again(signal) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    },
  });
  return { signal: controller.signal, [Symbol.dispose]: () => taken[Symbol.dispose]() };
}
