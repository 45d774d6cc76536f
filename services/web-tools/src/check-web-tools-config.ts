import { ConfigError } from "@rockbot/config";
import { addressFault } from "./fetch/address-policy.ts";
import type { WebToolsConfig } from "./generated/config.ts";

/**
 * Checks what the schema cannot say, and returns the configuration.
 * @throws {ConfigError} with each entry of `allowAddresses` that cannot be read
 */
export function checkWebToolsConfig(config: Readonly<WebToolsConfig>): Readonly<WebToolsConfig> {
  const faults = config.allowAddresses.flatMap((text, i) => {
    const fault = addressFault(text);
    return fault === undefined ? [] : [`allowAddresses.${i}: ${fault}`];
  });
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}
