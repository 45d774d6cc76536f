import type { Document, LineCounter } from "yaml";

/**
 * Why a text is no YAML, each with its place. The parser's words end where they would quote the text: what stands at a fault may be a
 * secret that somebody has forgotten to quote.
 */
export function yamlFaults({ errors }: Pick<Document, "errors">, lines: LineCounter): string[] {
  return errors.map(({ pos, message }) => {
    const { line, col } = lines.linePos(pos[0]);
    return `line ${line}, column ${col}: ${message.replace(/(?:: |(?<=escape sequence) ).*/s, "")}`;
  });
}
