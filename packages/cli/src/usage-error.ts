/** The command cannot be meant this way. Every fault is in it, in words. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join("\n"));
    this.faults = faults;
  }
}
