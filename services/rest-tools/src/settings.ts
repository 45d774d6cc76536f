import { addressFault } from "@rockbot/edge/outbound/addresses";
import type { LoadConfigOptions } from "@rockbot/process/config";
import { readRestFile } from "./file/read-rest-file.ts";
import type { RestToolsConfig } from "./generated/config.ts";

export { configSchema } from "./generated/config.ts";

/** For `loadConfig`: what the schema cannot say. */
export const check: NonNullable<LoadConfigOptions<RestToolsConfig>["check"]> = ({
  allowAddresses = [],
  pin,
  restLockFile,
  redisUrl,
}) => [
  ...(pin === "file" && restLockFile === undefined && redisUrl === undefined
    ? ['pin: "file" needs restLockFile or redisUrl, where approved operations are kept']
    : []),
  ...allowAddresses.flatMap((text, i) => {
    const fault = addressFault(text);
    return fault === undefined ? [] : [`allowAddresses.${i}: ${fault}`];
  }),
];

/** Faults of the file of endpoints end the process before anything is started. */
export function checkFiles(
  { restConfig }: Readonly<RestToolsConfig>,
  env: Readonly<Record<string, string | undefined>>,
): void {
  if (restConfig !== undefined) readRestFile(restConfig, env);
}
