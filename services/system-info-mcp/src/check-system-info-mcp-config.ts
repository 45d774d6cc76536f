import { type LoadConfigOptions, urlFaults } from "@rockbot/config";
import type { SystemInfoMcpConfig } from "./generated/config.ts";

/** For `loadConfig`: what the schema cannot say. */
export const checkSystemInfoMcpConfig: NonNullable<LoadConfigOptions<SystemInfoMcpConfig>["check"]> = ({ allowedOrigins = [] }) =>
  allowedOrigins.flatMap((origin, i) => urlFaults(`allowedOrigins.${i}`, origin));
