import { addressFaults } from "@rockbot/edge/inbound";
import { type LoadConfigOptions, urlFaults } from "@rockbot/process/config";
import type { SystemInfoMcpConfig } from "./generated/config.ts";

/** For `loadConfig`: what the schema cannot say. */
export const checkSystemInfoMcpConfig: NonNullable<LoadConfigOptions<SystemInfoMcpConfig>["check"]> = ({ allowedOrigins = [], proxies }) => [
  ...allowedOrigins.flatMap((origin, i) => urlFaults(`allowedOrigins.${i}`, origin)),
  ...addressFaults("proxies", proxies),
];
