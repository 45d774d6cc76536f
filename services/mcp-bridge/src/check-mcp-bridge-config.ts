import { type LoadConfigOptions, urlFaults } from "@rockbot/config";
import { addressFault } from "@rockbot/outbound";
import type { McpBridgeConfig } from "./generated/config.ts";

/** For `loadConfig`: what the schema cannot say. */
export const checkMcpBridgeConfig: NonNullable<LoadConfigOptions<McpBridgeConfig>["check"]> = ({
  busUrl,
  redisUrl,
  pin,
  mcpLockFile,
  registrationAllowAddresses = [],
}) => [
  ...urlFaults("busUrl", busUrl),
  ...urlFaults("redisUrl", redisUrl),
  ...(pin === "file" && mcpLockFile === undefined && redisUrl === undefined
    ? ['pin: "file" needs mcpLockFile or redisUrl, where approved definitions are kept']
    : []),
  ...registrationAllowAddresses.flatMap((text) => addressFault(text) ?? []).map((fault) => `registrationAllowAddresses: ${fault}`),
];
