/**
 * The variables that a program needs to find other programs, its user's files and its language. No secret has any of
 * these names.
 */
const INHERITED = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "TERM",
  "TZ",
  "TMPDIR",
  "XDG_CACHE_HOME",
  "SystemRoot",
] as const;

/** The variables that belong to our user. */
const OF_USER: ReadonlySet<string> = new Set(["HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "XDG_CACHE_HOME"]);

/**
 * The environment of an MCP server: of ours only what no secret hides in, and what is configured for it. One that runs
 * as another user gets nothing that is our user's.
 */
export function cleanEnvironment(
  configured: Readonly<Record<string, string>>,
  ours: Readonly<Record<string, string | undefined>>,
  { isOtherUser = false }: { readonly isOtherUser?: boolean } = {},
): Readonly<Record<string, string>> {
  const inherited = INHERITED.flatMap((name) => {
    const value = ours[name];
    return value === undefined || value.startsWith("()") || (isOtherUser && OF_USER.has(name)) ? [] : [[name, value]]; // "()" begins an exported shell function
  });
  return { ...Object.fromEntries(inherited), ...configured };
}
