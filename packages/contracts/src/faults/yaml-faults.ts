/** A document as the parser `yaml` gives it, as far as its faults go. */
export interface ParsedYaml {
  readonly errors: readonly { readonly pos: readonly [number, number]; readonly message: string }[];
}

/** The object that knows the lines of its text: the parser's `LineCounter`. */
export interface YamlLines {
  linePos(offset: number): { readonly line: number; readonly col: number };
}

/** The parser's own words are for programmers. */
const SECOND = "a second document begins here, and one is read. Write all in one";
const TOO_DEEP = "lists and objects lie too deep inside one another. Write fewer levels";

/**
 * Why a text is not YAML, each with its place. The parser's words end where they would quote the text: what stands at a
 * fault may be a secret that somebody has forgotten to quote.
 */
export function yamlFaults({ errors }: ParsedYaml, lines: YamlLines): string[] {
  return errors.map(({ pos, message }) => {
    const { line, col } = lines.linePos(pos[0]);
    const words = message.startsWith("Source contains multiple documents")
      ? SECOND
      : message.startsWith("Maximum call stack")
        ? TOO_DEEP
        : message.replace(/(?:: |(?<=escape sequence) ).*/s, "");
    return `line ${line}, column ${col}: ${words}`;
  });
}
