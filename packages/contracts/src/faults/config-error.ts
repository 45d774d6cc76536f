import { maskLikelySecrets } from "./mask-likely-secrets.ts";

/** A configuration cannot be used. The message lists every fault, one a line, and no value that may be a secret. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly string[];

  constructor(given: readonly string[], what = "the configuration") {
    const faults = given.map(maskLikelySecrets);
    super(
      [
        `Cannot load ${what}: ${faults.length === 1 ? "1 fault" : `${faults.length} faults`}`,
        ...faults.map((fault) => `  ${fault}`),
      ].join("\n"),
    );
    this.faults = faults;
  }
}
