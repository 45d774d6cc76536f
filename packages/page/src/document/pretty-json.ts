import { parseJson } from "@rockbot/contracts";

/** Deeper than this an indentation helps nobody. */
const MAX_DEPTH = 100;
/**
 * Lines and indentation make JSON up to some times as long, and an answer has a bound: what is long is data, not for
 * reading line by line.
 */
const MAX_LENGTH = 1_000_000;

/**
 * JSON with a line for each member, and its numbers and texts as they are written: a parser would round long numbers.
 * Text that is not JSON, is nested deeper than 100 levels, or would become longer than a million characters comes as it
 * is.
 */
export function prettyJson(text: string): string {
  return text.length <= MAX_LENGTH && parseJson(text).ok ? (indented(text) ?? text) : text;
}

/** @param json valid */
function indented(json: string): string | undefined {
  const out: string[] = [];
  let length = 0;
  let depth = 0;
  let isOpening = false;
  const put = (part: string): void => {
    out.push(part);
    length += part.length;
  };
  for (const [token] of json.matchAll(TOKENS)) {
    const isClosing = token === "}" || token === "]";
    if (isClosing) depth--;
    if (isOpening !== isClosing) put(`\n${"  ".repeat(depth)}`); // an empty one stays on its line
    isOpening = token === "{" || token === "[";
    if (isOpening) depth++;
    put(token === ":" ? ": " : token);
    if (token === ",") put(`\n${"  ".repeat(depth)}`);
    if (length > MAX_LENGTH || depth > MAX_DEPTH) return undefined;
  }
  return out.join("");
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs;
