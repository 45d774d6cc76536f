import { readFileSync } from "node:fs";
import { registerSecret } from "@rockbot/base/redaction";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The value of a variable, or of the file that `NAME_FILE` names. An empty one counts as not set. It becomes a secret
 * of this process.
 */
export function readVariable(name: string, env: Env): string | undefined {
  const value = env[name] || contentOf(env[`${name}_FILE`]);
  if (value !== undefined && value.length >= MIN_SECRET) registerSecret(value);
  return value;
}

/** A shorter value would be found in every other text. */
const MIN_SECRET = 8;

function contentOf(file: string | undefined): string | undefined {
  try {
    return file ? readFileSync(file, "utf8").replace(/\r?\n$/, "") || undefined : undefined;
  } catch {
    return undefined;
  }
}
