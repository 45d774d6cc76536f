/** A configuration cannot be used. The message lists every fault, one a line, and no secret value. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly string[];

  constructor(faults: readonly string[], what = "the configuration") {
    super([`Cannot load ${what}: ${faults.length === 1 ? "1 fault" : `${faults.length} faults`}`, ...faults.map((fault) => `  ${fault}`)].join("\n"));
    this.faults = faults;
  }
}
