import { readFileSync } from "node:fs";

/** A text with `${NAME}`, `${env:NAME}` and `${NAME:-default}`, or what is wrong with it. */
export interface Expanded {
  readonly text: string;
  /** The variables that stand in it, and their values. */
  readonly used: ReadonlyMap<string, string>;
  /** Names of variables that are not set and have no default. */
  readonly missing: readonly string[];
}

type Env = Readonly<Record<string, string | undefined>>;

const VARIABLE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/**
 * Puts the environment's values into a text: that of `NAME`, or what is in the file that `NAME_FILE` names. An empty
 * variable counts as not set.
 */
export function expandVariables(text: string, env: Env): Expanded {
  const used = new Map<string, string>();
  const missing: string[] = [];
  const expanded = text.replaceAll(VARIABLE, (_, name: string, fallback: string | undefined) => {
    const value = env[name] || contentOf(env[`${name}_FILE`]);
    if (value !== undefined) used.set(name, value);
    else if (fallback === undefined) missing.push(name);
    return value ?? fallback ?? "";
  });
  return { text: expanded, used, missing };
}

/** The contents of the files that variables of a text lie in. */
export function variableFiles(text: string, env: Env): readonly (string | undefined)[] {
  return [...text.matchAll(VARIABLE)].map(([, name = ""]) => contentOf(env[`${name}_FILE`]));
}

/** Undefined as well if it cannot be read or is empty: the variable is not set then. */
function contentOf(file: string | undefined): string | undefined {
  try {
    return file ? readFileSync(file, "utf8").replace(/\r?\n$/, "") || undefined : undefined;
  } catch {
    return undefined;
  }
}
