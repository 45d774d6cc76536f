import { ConfigError } from "@rockbot/config";
import type { GatewayConfig } from "./generated/config.ts";
import { isLoopback } from "./is-loopback.ts";

/**
 * Checks what the schema cannot say, and returns the configuration.
 * @throws {ConfigError} if others could reach the gateway without a token
 */
export function checkGatewayConfig(config: Readonly<GatewayConfig>): Readonly<GatewayConfig> {
  const { host, gatewayToken, callTimeoutMs, maxCallTimeoutMs } = config;
  const faults: string[] = [];
  if (!isLoopback(host) && gatewayToken === undefined) {
    faults.push(
      `gatewayToken: is required, since other machines can reach the host ${JSON.stringify(host)}. Set the variable GATEWAY_TOKEN to at least 16 characters, or host to 127.0.0.1`,
    );
  }
  if (callTimeoutMs > maxCallTimeoutMs) faults.push(`callTimeoutMs: expected at most maxCallTimeoutMs, which is ${maxCallTimeoutMs}, got ${callTimeoutMs}`);
  if (faults.length > 0) throw new ConfigError(faults);
  return config;
}
