import { possibleTexts } from "./possible-texts.ts";
import { callsOf, nameOf, nodesIn, propertiesOf, type Source, textOf } from "./sources.ts";
import type { Node } from "./syntax.ts";

export interface Instrument {
  readonly name: string;
  readonly kind: string;
  readonly unit: string | undefined;
  readonly description: string;
  /** Names of the attributes that its values have. */
  readonly tags: readonly string[];
  /** The package or service that records it. */
  readonly from: string;
}

const KINDS: ReadonlyMap<string, string> = new Map([
  ["createCounter", "counter"],
  ["createUpDownCounter", "up-down counter"],
  ["createHistogram", "histogram"],
  ["createGauge", "gauge"],
  ["createObservableCounter", "counter"],
  ["createObservableUpDownCounter", "up-down counter"],
  ["createObservableGauge", "gauge"],
]);
/** What takes a value and its attributes. */
const RECORDERS: ReadonlySet<string> = new Set(["add", "record", "observe"]);
/** Hands on what others make. */
const PASSES_ON = "packages/process/src/telemetry/tallies/";

/**
 * Every instrument that the code makes, sorted by name: each call of a meter's `createKIND`, and what its values are
 * recorded with in the same file.
 * @throws {Error} naming those without a name or a description in the sources
 */
export function instruments(sources: readonly Source[]): readonly Instrument[] {
  const made = new Map<string, Instrument>();
  const faults: string[] = [];
  for (const source of sources.filter(({ file }) => !file.startsWith(PASSES_ON))) {
    for (const { call, name: method, args } of callsOf(source, new Set(KINDS.keys()))) {
      const options = propertiesOf(args[1]);
      const names = possibleTexts(args[0], source, sources);
      const descriptions = possibleTexts(options.get("description"), source, sources);
      if (names.length === 0) faults.push(`${source.file}: an instrument whose name does not stand in this file`);
      for (const [index, { text: name }] of names.entries()) {
        const description = (descriptions[index] ?? descriptions[0])?.text;
        if (description === undefined) faults.push(`${source.file}: the instrument ${name} has no description`);
        const tags = [...new Set([...(made.get(name)?.tags ?? []), ...tagsOf(call, source)])];
        const from = source.file.split("/")[1] ?? "";
        made.set(name, {
          name,
          kind: KINDS.get(method) ?? "",
          unit: textOf(options.get("unit")),
          description: description ?? "",
          tags,
          from,
        });
      }
    }
  }
  if (faults.length > 0) throw new Error(`Cannot generate the metrics' reference:\n${faults.join("\n")}`);
  return [...made.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function tagsOf(call: Node, source: Source): readonly string[] {
  const held = new Set(holdersOf(call, source));
  const recorded = callsOf(source, RECORDERS).flatMap(({ call: recording, args }) => {
    const receiver = nameOf((recording["callee"] as Node)["object"] as Node);
    return receiver !== undefined && held.has(receiver) ? [args[1]] : [];
  });
  const observed = callsOf(source, new Set(["addCallback"])).flatMap(({ call: added, args: [callback] }) => {
    const on = (added["callee"] as Node)["object"] as Node;
    const isIts = on === call || held.has(nameOf(on) ?? "");
    return isIts
      ? declarationsOf(callback, source).flatMap((body) =>
          callsOf({ ...source, program: body }, RECORDERS).map(({ args }) => args[1]),
        )
      : [];
  });
  return [...recorded, ...observed].flatMap((attributes) => keysIn(attributes, source));
}

/** The names that the instrument is kept under: of a variable, a property, or another variable with the same value. */
function holdersOf(call: Node, source: Source): readonly string[] {
  const within = nodesIn(source.program).filter((node) => node.start <= call.start && node.end >= call.end);
  const holder = within.findLast(({ type }) =>
    ["VariableDeclarator", "PropertyDefinition", "Property", "AssignmentExpression"].includes(type),
  );
  const name = nameOf((holder?.["id"] ?? holder?.["key"] ?? holder?.["left"]) as Node | undefined);
  if (name === undefined) return [];
  const aliases = nodesIn(source.program).filter(
    ({ type, init }) => type === "VariableDeclarator" && (init as Node | null)?.type === "Identifier",
  );
  return [
    name,
    ...aliases.flatMap((node) => (nameOf(node["init"] as Node) === name ? [nameOf(node["id"] as Node) ?? ""] : [])),
  ];
}

/** The expression itself, or what stands for its name in the file. */
function declarationsOf(expression: Node | undefined, source: Source): readonly Node[] {
  if (expression === undefined) return [];
  const name = nameOf(expression);
  if (name === undefined) return [expression];
  return nodesIn(source.program).flatMap((node) => {
    const isIt =
      (node.type === "VariableDeclarator" || node.type === "PropertyDefinition") &&
      nameOf((node["id"] ?? node["key"]) as Node) === name;
    const value = node["init"] ?? node["value"];
    return isIt && value ? [value as Node] : [];
  });
}

function keysIn(attributes: Node | undefined, source: Source, depth = 0): readonly string[] {
  if (attributes === undefined || depth > 2) return [];
  const own = nodesIn(attributes).flatMap((node) => [...propertiesOf(node).keys()]);
  return own.length > 0
    ? own
    : declarationsOf(attributes, source).flatMap((node) =>
        node === attributes ? [] : keysIn(node, source, depth + 1),
      );
}
