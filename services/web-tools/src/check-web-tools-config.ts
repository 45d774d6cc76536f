import { addressFault } from "@rockbot/edge/outbound";
import { type LoadConfigOptions, urlFaults } from "@rockbot/process/config";
import type { WebToolsConfig } from "./generated/config.ts";

/** For `loadConfig`: what the schema cannot say, such as each entry of `allowAddresses` that cannot be read. */
export const checkWebToolsConfig: NonNullable<LoadConfigOptions<WebToolsConfig>["check"]> = ({ busUrl, redisUrl, braveBaseUrl, allowAddresses = [] }) => [
  ...urlFaults("busUrl", busUrl),
  ...urlFaults("redisUrl", redisUrl),
  ...urlFaults("braveBaseUrl", braveBaseUrl),
  ...allowAddresses.flatMap((text, i) => {
    const fault = addressFault(text);
    return fault === undefined ? [] : [`allowAddresses.${i}: ${fault}`];
  }),
];
