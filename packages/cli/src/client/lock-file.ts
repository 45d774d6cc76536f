import { accessSync, constants, existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/**
 * The default path for the approvals of a file's servers. It is beside that file, so that both go into version control. Undefined where it could be
 * neither read nor written.
 */
export function lockFileBeside(mcpConfig: string): string | undefined {
  const folder = dirname(resolve(mcpConfig));
  const file = join(folder, "mcp.lock.json");
  if (existsSync(file)) return file;
  try {
    accessSync(folder, constants.W_OK);
    return file;
  } catch {
    return undefined;
  }
}
