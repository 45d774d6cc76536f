import { ConfigError } from "@rockbot/contracts";
import type { Finding } from "@rockbot/process";
import { readRestFile } from "./file/read-rest-file.ts";
import type { RestToolsConfig } from "./generated/config.ts";

/** For `rockbot doctor`: whether there is a file of REST tools, and what its tools lack. */
export function examine(
  { restConfig }: Readonly<RestToolsConfig>,
  env: Readonly<Record<string, string | undefined>>,
): readonly Finding[] {
  const what = "REST_CONFIG";
  if (restConfig === undefined)
    return [
      {
        what,
        state: "off",
        message: "not set, so REST tools are off. It names a file of endpoints and OpenAPI documents",
      },
    ];
  try {
    const { operations, imports, off } = readRestFile(restConfig, env);
    return [
      { what, state: "ok", message: `${operations.length} endpoints, ${imports.length} OpenAPI documents` },
      ...off.map(({ tool, reason }) => ({ what: tool, state: "off" as const, message: reason })),
    ];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [{ what, state: "broken", message: error.message }];
  }
}
