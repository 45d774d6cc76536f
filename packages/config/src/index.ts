// To load.
export { loadConfig, type LoadConfigOptions } from "./load-config.ts";
export type { ConfigSection } from "./config-section.ts";
export { ConfigError } from "./config-error.ts";
export { exitOnConfigError } from "./exit-on-config-error.ts";

// To describe what can be set.
export type { ConfigSchema } from "./config-schema.ts";
export { envName } from "./read-env.ts";
