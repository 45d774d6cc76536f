import { addressFaults } from "@rockbot/edge/inbound";
import type { LoadConfigOptions } from "@rockbot/process/config";
import type { OpenrouterMcpConfig } from "./generated/config.ts";

export { configSchema } from "./generated/config.ts";

/** For `loadConfig`: what the schema cannot say. */
export const check: NonNullable<LoadConfigOptions<OpenrouterMcpConfig>["check"]> = ({ proxies }) =>
  addressFaults("proxies", proxies);
