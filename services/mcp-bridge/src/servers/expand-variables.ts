/** A text with `${NAME}` and `${NAME:-default}`, or what is wrong with it. */
export interface Expanded {
  readonly text: string;
  /** The variables that stand in it, and their values. */
  readonly used: ReadonlyMap<string, string>;
  /** Names of variables that are not set and have no default. */
  readonly missing: readonly string[];
}

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** Puts the environment's values into a text. An empty variable counts as not set. */
export function expandVariables(text: string, env: Readonly<Record<string, string | undefined>>): Expanded {
  const used = new Map<string, string>();
  const missing: string[] = [];
  const expanded = text.replaceAll(VARIABLE, (_, name: string, fallback: string | undefined) => {
    const value = env[name] || undefined;
    if (value !== undefined) used.set(name, value);
    else if (fallback === undefined) missing.push(name);
    return value ?? fallback ?? "";
  });
  return { text: expanded, used, missing };
}
