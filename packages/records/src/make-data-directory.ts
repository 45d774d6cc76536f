import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { StoreUnavailableError } from "./store-unavailable-error.ts";

/**
 * Makes the folder of a service's own data, for this user alone, if it is missing. One that is there keeps its rights,
 * as a volume's are the operator's.
 * @returns its absolute path
 * @throws {StoreUnavailableError} if it cannot be made, or nothing can be written there
 */
export function makeDataDirectory(path: string): string {
  const folder = resolve(path);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!statSync(folder).isDirectory()) throw Object.assign(new Error("no folder"), { code: "ENOTDIR" });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new StoreUnavailableError(
      `Cannot keep data in ${folder}: ${code}. Set DATA_DIRECTORY to a folder that this user can write to`,
      { cause: error },
    );
  }
  return folder;
}
