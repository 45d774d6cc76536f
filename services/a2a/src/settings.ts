import { addressFault } from "@rockbot/edge/outbound/addresses";
import type { LoadConfigOptions } from "@rockbot/process/config";
import type { A2AConfig } from "./generated/config.ts";
import { readAgentsFile } from "./read-agents-file.ts";

export { configSchema } from "./generated/config.ts";

/** For `loadConfig`: what the schema cannot say. */
export const check: NonNullable<LoadConfigOptions<A2AConfig>["check"]> = ({
  allowAddresses = [],
  pin,
  a2aLockFile,
  redisUrl,
}) => [
  ...(pin === "file" && a2aLockFile === undefined && redisUrl === undefined
    ? ['pin: "file" needs a2aLockFile or redisUrl, where approved cards are kept']
    : []),
  ...allowAddresses.flatMap((text, i) => {
    const fault = addressFault(text);
    return fault === undefined ? [] : [`allowAddresses.${i}: ${fault}`];
  }),
];

/** Faults of the file of agents end the process before anything is started. */
export function checkFiles({ a2aAgentsFile }: Readonly<A2AConfig>): void {
  if (a2aAgentsFile !== undefined) readAgentsFile(a2aAgentsFile);
}
