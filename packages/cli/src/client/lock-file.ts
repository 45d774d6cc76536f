import { accessSync, constants, existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/**
 * Where it is kept what is approved of the servers of a file, if nothing else is set: beside that file, so that it goes with it into version control.
 * Undefined where it could be neither read nor written.
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
