// To load settings.

export { ConfigError } from "@rockbot/contracts";
export type { ConfigSection } from "./config-section.ts";
export { exitOnConfigError } from "./exit-on-config-error.ts";
export { type LoadConfigOptions, loadConfig } from "./load-config.ts";
export { readVariable } from "./read-variable.ts";

// The parts of settings, and their names.

export type { ConfigSchema } from "./config-schema.ts";
export { envName, secretVariables } from "./read-env.ts";
