import { accessSync, constants, existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/**
 * The default path for the approvals of a file's servers or documents. It is beside that file, so that both go into
 * version control. Undefined where it could be neither read nor written.
 */
export function lockFileBeside(config: string, name = "mcp.lock.json"): string | undefined {
  const folder = dirname(resolve(config));
  const file = join(folder, name);
  if (existsSync(file)) return file;
  try {
    accessSync(folder, constants.W_OK);
    return file;
  } catch {
    return undefined;
  }
}

/** Where approvals are kept without Redis, beside the file of what is approved. */
const LOCK_FILES = [
  { file: "mcpConfig", setting: "mcpLockFile", name: "mcp.lock.json" },
  { file: "restConfig", setting: "restLockFile", name: "rest.lock.json" },
];

/** A service's settings with a file for its approvals, which are to outlive this process. */
export function withLockFile<Config extends object>(config: Config): Config {
  const settings = config as Readonly<Record<string, string | undefined>>;
  const kind = LOCK_FILES.find(({ file }) => settings[file] !== undefined);
  if (kind === undefined || settings[kind.setting] !== undefined) return config;
  const beside = lockFileBeside(settings[kind.file] ?? "", kind.name);
  return beside === undefined ? config : { ...config, [kind.setting]: beside };
}
