/** A signal that aborts at the first Ctrl-C or SIGTERM. At the second the process ends at once, as it would without us. */
export function interruption(): Disposable & { readonly signal: AbortSignal } {
  const controller = new AbortController();
  const signals = ["SIGINT", "SIGTERM"] as const;
  const onSignal = (): void => {
    for (const signal of signals) process.off(signal, onSignal);
    controller.abort();
  };
  for (const signal of signals) process.on(signal, onSignal);
  return {
    signal: controller.signal,
    [Symbol.dispose]() {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}
