import { join } from "node:path";
import { UsageError } from "../usage-error.ts";
import { readTextFile, readVariable } from "./read-variable.ts";

/** Shorter ones are guessed. */
const MIN_LENGTH = 8;

/** The variable that holds a user's password: `ROCKBOT_PASSWORD_WEB_TOOLS` for `web-tools`. */
export const passwordVariable = (user: string): string => `ROCKBOT_PASSWORD_${user.replaceAll("-", "_").toUpperCase()}`;

/**
 * The passwords of users: each from the file of its name in `folder` if there is one, else from its variable, or from
 * the file that the variable with `_FILE` at its end names.
 * @throws {UsageError} that names every user without one at once, and shows no password
 */
export async function readPasswords(
  users: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  folder?: string | undefined,
): Promise<Map<string, string>> {
  const passwords = new Map<string, string>();
  const owners = new Map<string, string>();
  const faults: string[] = [];
  for (const user of users) {
    const variable = passwordVariable(user);
    const other = owners.get(variable);
    if (folder === undefined && other !== undefined)
      faults.push(`${variable}: would be the password of both "${other}" and "${user}". Rename one of them`);
    owners.set(variable, user);
    const known = faults.length;
    const file = folder === undefined ? undefined : join(folder, user);
    const password =
      file === undefined
        ? await readVariable(variable, env, faults)
        : await readTextFile(file, `${file}, the password of "${user}",`, faults);
    if (password === undefined && faults.length === known)
      faults.push(`${variable}: not set, nor ${variable}_FILE. It is the password of "${user}"`);
    else if (password !== undefined && password.length < MIN_LENGTH)
      faults.push(`${file ?? variable}: has fewer than ${MIN_LENGTH} characters`);
    else if (password !== undefined) passwords.set(user, password);
  }
  if (faults.length > 0) throw new UsageError(faults);
  return passwords;
}
