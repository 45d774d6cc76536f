import { accessSync, constants, existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/**
 * The default path for the approvals of a file's servers or documents. It is beside that file, so that both go into version control. Undefined where it could be
 * neither read nor written.
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
