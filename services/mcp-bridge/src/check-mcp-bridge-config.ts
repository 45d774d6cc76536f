import { addressFault } from "@rockbot/edge/outbound";
import { type LoadConfigOptions, urlFaults } from "@rockbot/process/config";
import type { McpBridgeConfig } from "./generated/config.ts";

/** For `loadConfig`: what the schema cannot say. */
export const checkMcpBridgeConfig: NonNullable<LoadConfigOptions<McpBridgeConfig>["check"]> = ({
  busUrl,
  redisUrl,
  pin,
  mcpLockFile,
  registrationUid,
  registrationAllowAddresses = [],
}) => [
  ...urlFaults("busUrl", busUrl),
  ...urlFaults("redisUrl", redisUrl),
  ...(pin === "file" && mcpLockFile === undefined && redisUrl === undefined
    ? ['pin: "file" needs mcpLockFile or redisUrl, where approved definitions are kept']
    : []),
  ...(registrationUid === undefined || process.getuid?.() === 0 || process.getuid?.() === registrationUid
    ? []
    : [`registrationUid: only a bridge that runs as root can start programs as the user ${registrationUid}`]),
  ...registrationAllowAddresses.flatMap((text) => addressFault(text) ?? []).map((fault) => `registrationAllowAddresses: ${fault}`),
];
