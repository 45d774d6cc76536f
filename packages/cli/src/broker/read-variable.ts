import { readFile } from "node:fs/promises";

type Env = Readonly<Record<string, string | undefined>>;

/**
 * A variable's text, or that of the file which the variable with `_FILE` at its end names, without its last line break.
 * Where both are set, or the file cannot be read, it adds a fault that shows no value.
 */
export async function readVariable(variable: string, env: Env, faults: string[]): Promise<string | undefined> {
  const [text, file] = [env[variable] || undefined, env[`${variable}_FILE`] || undefined];
  if (text !== undefined && file !== undefined)
    faults.push(`${variable}: set together with ${variable}_FILE. Set one of them`);
  if (text !== undefined || file === undefined) return text;
  return readTextFile(file, `${variable}_FILE: the file that it names`, faults);
}

/** @param subject begins the fault if it cannot be read */
export async function readTextFile(file: string, subject: string, faults: string[]): Promise<string | undefined> {
  try {
    return (await readFile(file, "utf8")).replace(/\r?\n$/, "");
  } catch (error) {
    faults.push(`${subject} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`);
    return undefined;
  }
}
