import { addressFaults } from "@rockbot/edge/inbound";
import { type LoadConfigOptions, urlFaults } from "@rockbot/process/config";
import type { OpenrouterMcpConfig } from "./generated/config.ts";

/** For `loadConfig`: what the schema cannot say. */
export const checkOpenrouterMcpConfig: NonNullable<LoadConfigOptions<OpenrouterMcpConfig>["check"]> = ({ openrouterBaseUrl, allowedOrigins = [], proxies }) => [
  ...urlFaults("openrouterBaseUrl", openrouterBaseUrl),
  ...allowedOrigins.flatMap((origin, i) => urlFaults(`allowedOrigins.${i}`, origin)),
  ...addressFaults("proxies", proxies),
];
