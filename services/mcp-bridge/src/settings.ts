import { addressFault } from "@rockbot/edge/outbound/addresses";
import type { LoadConfigOptions } from "@rockbot/process/config";
import type { McpBridgeConfig } from "./generated/config.ts";
import { readServers } from "./servers/read-servers.ts";

export { configSchema } from "./generated/config.ts";

/** For `loadConfig`: what the schema cannot say. */
export const check: NonNullable<LoadConfigOptions<McpBridgeConfig>["check"]> = ({
  redisUrl,
  pin,
  mcpLockFile,
  registrationUid,
  registrationAllowAddresses = [],
}) => [
  ...(pin === "file" && mcpLockFile === undefined && redisUrl === undefined
    ? ['pin: "file" needs mcpLockFile or redisUrl, where approved definitions are kept']
    : []),
  ...(registrationUid === undefined || process.getuid?.() === 0 || process.getuid?.() === registrationUid
    ? []
    : [`registrationUid: only a bridge that runs as root can start programs as the user ${registrationUid}`]),
  ...registrationAllowAddresses
    .flatMap((text) => addressFault(text) ?? [])
    .map((fault) => `registrationAllowAddresses: ${fault}`),
];

/** Faults of the file of servers end the process before anything is started. */
export function checkFiles(
  { mcpConfig }: Readonly<McpBridgeConfig>,
  env: Readonly<Record<string, string | undefined>>,
): void {
  if (mcpConfig !== undefined) readServers(mcpConfig, env);
}
