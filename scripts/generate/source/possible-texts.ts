import { callsOf, nameOf, nodesIn, propertiesOf, type Source, textOf } from "./sources.ts";
import { childrenOf, type Node } from "./syntax.ts";

const FUNCTIONS: ReadonlySet<string> = new Set([
  "FunctionDeclaration",
  "FunctionExpression",
  "ArrowFunctionExpression",
]);

/**
 * A text that an expression may be, and the call that gives it: the one that the expression stands in, or one of the
 * function that it stands in.
 */
export interface PossibleText {
  readonly text: string;
  /** The arguments beside it, where it comes from the call of a function of ours. */
  readonly beside: readonly Node[];
}

/**
 * The texts that the expression may be, as far as they stand in the sources: as literals, in both branches of a
 * condition, in a constant of the file, in a property of that name of an object literal of the file, or, where it is a
 * parameter, in the calls of that function.
 */
export function possibleTexts(
  expression: Node | undefined,
  source: Source,
  sources: readonly Source[],
): readonly PossibleText[] {
  const text = textOf(expression);
  if (text !== undefined) return [{ text, beside: [] }];
  if (expression?.type === "ConditionalExpression") {
    return [expression["consequent"], expression["alternate"]].flatMap((branch) =>
      possibleTexts(branch as Node, source, sources),
    );
  }
  if (expression?.type === "MemberExpression") {
    const property = nameOf(expression) ?? "";
    const ofConstant = sources.flatMap((each) =>
      packageOf(each.file) === packageOf(source.file) ? constantsOf(each, nameOf(expression["object"] as Node)) : [],
    );
    const texts = (nodes: readonly Node[]) =>
      nodes.map((node) => textOf(propertiesOf(node).get(property))).filter((found) => found !== undefined);
    const ofThatName = texts(ofConstant);
    return (ofThatName.length > 0 ? ofThatName : texts(nodesIn(source.program))).map((text) => ({ text, beside: [] }));
  }
  if (expression?.type !== "Identifier") return [];
  const name = String(expression["name"]);
  const parameter = parameterOf(source.program, expression, name);
  if (parameter !== undefined) {
    const callers = parameter.isLocal
      ? [source]
      : sources.filter(({ file }) => packageOf(file) === packageOf(source.file));
    return callers.flatMap((caller) =>
      callsOf(caller, new Set([parameter.of])).flatMap(({ args }) =>
        possibleTexts(args[parameter.index], caller, sources).map(({ text }) => ({ text, beside: args })),
      ),
    );
  }
  return constantsOf(source, name).flatMap((value) => {
    const found = textOf(value);
    return found === undefined ? [] : [{ text: found, beside: [] }];
  });
}

/** The values that constants of this name have in the file. */
function constantsOf({ program }: Source, name: string | undefined): readonly Node[] {
  return nodesIn(program).flatMap((node) =>
    node.type === "VariableDeclarator" && node["init"] && nameOf(node["id"] as Node) === name
      ? [node["init"] as Node]
      : [],
  );
}

const packageOf = (file: string): string => file.split("/").slice(0, 2).join("/");

interface Parameter {
  readonly of: string;
  readonly index: number;
  /** True if the function is not exported. */
  readonly isLocal: boolean;
}

/** The function around `inner` that has a parameter of this name; only functions that have a name. */
function parameterOf(program: Node, inner: Node, name: string): Parameter | undefined {
  let parameter: Parameter | undefined;
  const look = (node: Node, called: string | undefined, isLocal: boolean): void => {
    if (node.start > inner.start || node.end < inner.end) return;
    if (FUNCTIONS.has(node.type)) {
      const index = (node["params"] as Node[]).findIndex((param) => nameOf(param) === name);
      const of = nameOf(node["id"] as Node | undefined) ?? called;
      if (index >= 0 && of !== undefined) parameter = { of, index, isLocal };
    }
    const own = nameOf(
      (node["id"] ?? (node.type === "MethodDefinition" || node.type === "Property" ? node["key"] : undefined)) as
        | Node
        | undefined,
    );
    const isExported = node.type === "ExportNamedDeclaration";
    for (const child of childrenOf(node)) look(child, own, isLocal && !isExported);
  };
  look(program, undefined, true);
  return parameter;
}
