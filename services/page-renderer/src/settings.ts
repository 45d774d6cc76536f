import { addressFault } from "@rockbot/edge/outbound/addresses";
import type { LoadConfigOptions } from "@rockbot/process/config";
import type { PageRendererConfig } from "./generated/config.ts";

export { configSchema } from "./generated/config.ts";

/** For `loadConfig`: what the schema cannot say, such as each entry of `allowAddresses` that cannot be read. */
export const check: NonNullable<LoadConfigOptions<PageRendererConfig>["check"]> = ({ allowAddresses = [] }) =>
  allowAddresses.flatMap((text, i) => {
    const fault = addressFault(text);
    return fault === undefined ? [] : [`allowAddresses.${i}: ${fault}`];
  });
