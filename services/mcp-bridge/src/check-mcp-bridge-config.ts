import { type LoadConfigOptions, urlFaults } from "@rockbot/config";
import type { McpBridgeConfig } from "./generated/config.ts";

/** For `loadConfig`: what the schema cannot say. */
export const checkMcpBridgeConfig: NonNullable<LoadConfigOptions<McpBridgeConfig>["check"]> = ({ busUrl, redisUrl }) => [
  ...urlFaults("busUrl", busUrl),
  ...urlFaults("redisUrl", redisUrl),
];
