/**
 * Which tools of a server are offered, by globs on their own names: `*` is any text, `?` any character, case does not
 * matter.
 */
export interface ToolFilterOptions {
  /** @default all */
  readonly allowed?: readonly string[] | undefined;
  /** Wins over `allowed`. @default none */
  readonly denied?: readonly string[] | undefined;
}

export function toolFilter({ allowed = ["*"], denied = [] }: ToolFilterOptions): (toolName: string) => boolean {
  const allows = allowed.map(globExpression);
  const denies = denied.map(globExpression);
  return (name) => allows.some((glob) => glob.test(name)) && !denies.some((glob) => glob.test(name));
}

/** Runs of `*` count as one, so that none makes matching slow. */
function globExpression(glob: string): RegExp {
  const pattern = glob
    .split(/(\*+|\?)/)
    .map((part) => (part.startsWith("*") ? ".*" : part === "?" ? "." : part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&")))
    .join("");
  return new RegExp(`^${pattern}$`, "isu");
}
