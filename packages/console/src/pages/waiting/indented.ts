const MAX_DEPTH = 20;
/** A longer text stands as it is. */
const MAX_LENGTH = 200_000;

/**
 * JSON over several lines. Nothing is parsed, so it has each character that the text has: a long number stays as it is,
 * and of two equal keys both are there.
 */
export function indented(json: string): string {
  if (json.length > MAX_LENGTH) return json;
  let depth = 0;
  const line = () => `\n${"  ".repeat(Math.min(depth, MAX_DEPTH))}`;
  return json.replace(/"(?:[^"\\]|\\.)*"|\{\}|\[\]|[{}[\],:]/gs, (token) => {
    switch (token) {
      case "{":
      case "[":
        depth++;
        return token + line();
      case "}":
      case "]":
        depth = Math.max(0, depth - 1);
        return line() + token;
      case ",":
        return token + line();
      case ":":
        return ": ";
      default:
        return token;
    }
  });
}
