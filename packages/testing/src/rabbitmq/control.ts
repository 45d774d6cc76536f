type Run = (...args: string[]) => Promise<string>;

/**
 * `rabbitmqctl` of one broker. A broker accepts connections a moment before it takes commands, so the first command
 * after each start waits until it does.
 */
export function createControl(run: Run): { readonly ctl: Run; restarted(): void } {
  let startup: Promise<string> | undefined;
  return {
    async ctl(...args) {
      startup ??= run("await_startup");
      await startup;
      return run(...args);
    },
    restarted() {
      startup = undefined;
    },
  };
}
