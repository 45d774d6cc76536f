import { compile, type JSONValue, TreeInterpreter } from "@jmespath-community/jmespath";
import { valueAt } from "@rockbot/contracts";

/** Takes a part out of a JSON answer; undefined or null if it has none. */
export type SelectPart = (value: unknown) => unknown;

/**
 * Reads a JSON Pointer, which begins with a slash, or JMESPath.
 * @throws {SyntaxError} that says what is wrong with it
 */
export function selectPart(expression: string): SelectPart {
  if (expression.startsWith("/")) return (value) => valueAt(value, expression);
  let tree: ReturnType<typeof compile>;
  try {
    tree = compile(expression);
  } catch (error) {
    throw new SyntaxError(
      `it is neither a JSON Pointer nor JMESPath (${String((error as Error).message).slice(0, 200)})`,
    );
  }
  return (value) => TreeInterpreter.search(tree, value as JSONValue);
}
