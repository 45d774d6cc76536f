import { addressFaults } from "@rockbot/edge/inbound";
import { addressFault } from "@rockbot/edge/outbound/addresses";
import { ConfigError, type LoadConfigOptions } from "@rockbot/process/config";
import { readCommandKey } from "@rockbot/tools/commands";
import type { GatewayConfig } from "./generated/config.ts";
import { isLoopback } from "./is-loopback.ts";
import { webhookFault } from "./waiting/webhook-receiver.ts";

export { configSchema } from "./generated/config.ts";

/** For `loadConfig`: what the schema cannot say. Above all, others cannot reach the gateway without a token. */
export const check: NonNullable<LoadConfigOptions<GatewayConfig>["check"]> = (config, isFaulty) => {
  const {
    host,
    gatewayToken,
    policyFile,
    proxies,
    callTimeoutMs,
    maxCallTimeoutMs,
    a2aUrl,
    a2aPush,
    a2aPushAddresses = [],
    operatorKey,
    webhooks = [],
  } = config;
  const faults = [...addressFaults("proxies", proxies)];
  if (
    host !== undefined &&
    !isLoopback(host) &&
    gatewayToken === undefined &&
    !isFaulty("gatewayToken") &&
    policyFile === undefined
  ) {
    faults.push(
      `gatewayToken: is required, since other machines can reach the host ${JSON.stringify(host)}. Set the variable GATEWAY_TOKEN to at least 16 characters, or POLICY_FILE to a policy with tokens, or host to 127.0.0.1`,
    );
  }
  if (callTimeoutMs !== undefined && maxCallTimeoutMs !== undefined && callTimeoutMs > maxCallTimeoutMs)
    faults.push(`callTimeoutMs: expected at most maxCallTimeoutMs, which is ${maxCallTimeoutMs}, got ${callTimeoutMs}`);
  if (a2aPush === true && a2aUrl === undefined && !isFaulty("a2aUrl"))
    faults.push(
      "a2aPush: has no effect without a2aUrl, as no agent is served. Set A2A_URL to the address that A2A clients reach, or leave A2A_PUSH out",
    );
  if (operatorKey !== undefined && !isFaulty("operatorKey")) faults.push(...faultsOf(operatorKey));
  for (const [i, text] of a2aPushAddresses.entries()) {
    const fault = addressFault(text);
    if (fault !== undefined) faults.push(`a2aPushAddresses.${i}: ${fault}`);
  }
  for (const [i, text] of webhooks.entries()) {
    const fault = webhookFault(text);
    if (fault !== undefined) faults.push(`webhooks.${i}: ${fault}`);
  }
  return faults;
};

function faultsOf(operatorKey: string): readonly string[] {
  try {
    readCommandKey(operatorKey, "operatorKey");
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}
