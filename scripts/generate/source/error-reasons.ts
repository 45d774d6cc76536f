import { possibleTexts } from "./possible-texts.ts";
import { callsOf, nameOf, nodesIn, propertiesOf, type Source, textOf } from "./sources.ts";
import type { Node } from "./syntax.ts";

/** A value of `details.reason`, and the codes of the errors that have it. */
export interface ErrorReason {
  readonly reason: string;
  readonly codes: readonly string[];
}

/**
 * Every `details.reason` whose text stands in the sources, as a literal or as the argument of a function that makes the
 * error; sorted.
 */
export function errorReasons(
  sources: readonly Source[],
  codes: Readonly<Record<string, string>>,
): readonly ErrorReason[] {
  const found = new Map<string, Set<string>>();
  for (const source of sources) {
    for (const { args } of callsOf(source, new Set(["ToolError"]))) {
      const details = [...(args[2] === undefined ? [] : nodesIn(args[2]))].map((node) =>
        propertiesOf(node).get("details"),
      );
      const reason = details.map((node) => propertiesOf(node).get("reason")).find((node) => node !== undefined);
      const reasons = possibleTexts(reason, source, sources);
      const named = codes[nameOf(args[0]) ?? ""];
      const ofCall = named === undefined ? possibleTexts(args[0], source, sources).map(({ text }) => text) : [named];
      for (const [index, { text }] of reasons.entries()) {
        const known = found.get(text) ?? new Set();
        found.set(text, known.add(ofCall.length === reasons.length ? (ofCall[index] ?? "") : (ofCall[0] ?? "")));
      }
    }
  }
  return [...found]
    .map(([reason, of]) => ({ reason, codes: [...of].sort() }))
    .sort((a, b) => (a.reason < b.reason ? -1 : 1));
}

/** All texts that stand in the sources as they are. */
export function literalsIn(sources: readonly Source[]): ReadonlySet<string> {
  return new Set(sources.flatMap(({ program }) => nodesIn(program).flatMap((node: Node) => textOf(node) ?? [])));
}
