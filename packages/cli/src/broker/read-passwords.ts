import { readFile } from "node:fs/promises";
import { UsageError } from "../usage-error.ts";

/** Shorter ones are guessed. */
const MIN_LENGTH = 8;

/** The variable that holds a user's password: `ROCKBOT_PASSWORD_WEB_TOOLS` for `web-tools`. */
export const passwordVariable = (user: string): string => `ROCKBOT_PASSWORD_${user.replaceAll("-", "_").toUpperCase()}`;

/**
 * The passwords of users, each from its variable, or from the file that the variable with `_FILE` at its end names.
 * @throws {UsageError} that names every user without one at once, and shows no password
 */
export async function readPasswords(users: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<Map<string, string>> {
  const passwords = new Map<string, string>();
  const owners = new Map<string, string>();
  const faults: string[] = [];
  for (const user of users) {
    const variable = passwordVariable(user);
    const other = owners.get(variable);
    if (other !== undefined) faults.push(`${variable}: would be the password of both "${other}" and "${user}". Rename one of them`);
    owners.set(variable, user);
    const [text, file] = [env[variable] || undefined, env[`${variable}_FILE`] || undefined];
    try {
      const password = text ?? (file === undefined ? undefined : (await readFile(file, "utf8")).replace(/\r?\n$/, ""));
      if (text !== undefined && file !== undefined) faults.push(`${variable}: set together with ${variable}_FILE. Set one of them`);
      else if (password === undefined) faults.push(`${variable}: not set, nor ${variable}_FILE. It is the password of "${user}"`);
      else if (password.length < MIN_LENGTH) faults.push(`${variable}: has fewer than ${MIN_LENGTH} characters`);
      else passwords.set(user, password);
    } catch (error) {
      faults.push(`${variable}_FILE: the file that it names cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`);
    }
  }
  if (faults.length > 0) throw new UsageError(faults);
  return passwords;
}
