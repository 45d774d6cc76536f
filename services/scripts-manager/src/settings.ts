import type { LoadConfigOptions } from "@rockbot/process/config";
import type { ScriptsManagerConfig } from "./generated/config.ts";

export { configSchema } from "./generated/config.ts";

/** For `loadConfig`: what the schema cannot say. */
export const check: NonNullable<LoadConfigOptions<ScriptsManagerConfig>["check"]> = ({
  runner,
  unsafeLocalScripts,
  sandboxFloor = 0,
  sandboxCeiling = Number.POSITIVE_INFINITY,
}) => [
  ...(sandboxFloor > sandboxCeiling
    ? [`sandboxFloor: expected at most sandboxCeiling, which is ${sandboxCeiling}, got ${sandboxFloor}`]
    : []),
  ...(unsafeLocalScripts && runner !== undefined && runner !== "local"
    ? [
        `unsafeLocalScripts: expected with the runner local only, since scripts of others always have a sandbox, got it with ${runner}`,
      ]
    : []),
];
