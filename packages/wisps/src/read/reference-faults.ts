import type { TurnTool } from "@rockbot/agent/plugin";
import { isRecord } from "@rockbot/base";
import { namesHelp } from "@rockbot/contracts";
import type { Reference } from "../pipeline/reference.ts";
import { readText, textsIn } from "../pipeline/template.ts";
import type { WispStep } from "../pipeline/wisp.ts";

export interface ReferenceFaultsOptions {
  /** The final template. */
  readonly result: unknown;
  /** Where the definition was written. */
  readonly place: string;
  readonly tools: readonly TurnTool[];
  /** JSON Schema of what `/input` leads into. @default there is no input */
  readonly input?: object | undefined;
}

/** The template at a place, and what it may refer to. */
interface Placed {
  readonly template: unknown;
  readonly place: string;
  readonly self?: string | undefined;
  readonly hasItem: boolean;
}

/** What is wrong with the references of a pipeline, and with the names in `after`. */
export function referenceFaults(
  steps: readonly WispStep[],
  { result, place, tools, input }: ReferenceFaultsOptions,
): readonly string[] {
  const ids = steps.map(({ id }) => id);
  const byId = new Map(steps.map((step) => [step.id, step]));
  const unknown = (id: string): string => `there is no step "${id}". ${namesHelp(id, ids)}`;
  const faultOf = (reference: Reference, { self, hasItem }: Placed): string | undefined => {
    const shown = `{{${reference.pointer}}}`;
    if (reference.root === "input") {
      if (input === undefined)
        return `${shown}: there is no input here. Write the value itself; a wisp that is saved has an input if you give its schema`;
      const fault = schemaFault(input, partsOf(reference.path), "the input has");
      return fault === undefined ? undefined : `${shown}: ${fault}`;
    }
    if (reference.root !== "steps")
      return hasItem ? undefined : `${shown}: only what a step with for_each does has an item`;
    if (reference.step === self) return `${shown}: a step cannot have its own result`;
    const step = byId.get(reference.step ?? "");
    if (step === undefined) return `${shown}: ${unknown(reference.step ?? "")}`;
    const fault = reference.field === "data" ? pathFault(step, reference.path, tools) : undefined;
    return fault === undefined ? undefined : `${shown}: ${fault}`;
  };
  const ofTemplate = (placed: Placed): readonly string[] =>
    textsIn(placed.template).flatMap(({ text, path }) => {
      const { parts, faults } = readText(text);
      const wrong = parts.flatMap((part) => (typeof part === "string" ? [] : (faultOf(part, placed) ?? [])));
      return [...faults, ...wrong].map((fault) => `${placed.place}${path}: ${fault}`);
    });
  return [
    ...steps.flatMap((step) => [
      ...templatesOf(step).flatMap(ofTemplate),
      ...itemsFault(step),
      ...afterFaults(step, byId, unknown),
    ]),
    ...ofTemplate({ template: result, place: `${place}/result`, hasItem: false }),
  ];
}

function templatesOf({ id: self, place, work, forEach, when }: WispStep): readonly Placed[] {
  const hasItem = forEach !== undefined;
  const [template, name] = work.kind === "call" ? [work.arguments, "arguments"] : [work.prompt, "ask"];
  return [
    { template, place: `${place}/${name}`, self, hasItem },
    { template: forEach?.items, place: `${place}/for_each/items`, self, hasItem: false },
    { template: when?.value, place: `${place}/when/value`, self, hasItem: false },
    { template: when?.to, place: `${place}/when/to`, self, hasItem: false },
  ];
}

function itemsFault({ place, forEach }: WispStep): readonly string[] {
  if (typeof forEach?.items !== "string") return [];
  const { parts, faults } = readText(forEach.items);
  const isOne = parts.length === 1 && typeof parts[0] !== "string";
  return isOne || faults.length > 0
    ? []
    : [
        `${place}/for_each/items: expected a list, or one reference to a list such as {{/steps/ID/data}}, and nothing beside it`,
      ];
}

const afterFaults = (
  { id, place, after }: WispStep,
  byId: ReadonlyMap<string, WispStep>,
  unknown: (id: string) => string,
): readonly string[] =>
  after.flatMap((name) =>
    name === id
      ? [`${place}/after: a step cannot wait for itself`]
      : byId.has(name)
        ? []
        : [`${place}/after: ${unknown(name)}`],
  );

/** Names the fault if the data of a step can have no such path, as far as its tool says what it gives. */
function pathFault({ id, work, forEach }: WispStep, path: string, tools: readonly TurnTool[]): string | undefined {
  const parts = partsOf(path);
  if (forEach !== undefined) {
    const [index] = parts.splice(0, 1);
    if (index !== undefined && !INDEX.test(index))
      return `the data of "${id}" is a list, with a result for each item. Begin with a number, as in /steps/${id}/data/0`;
  }
  const output = work.kind === "call" ? tools.find(({ tool }) => tool.name === work.tool)?.output : undefined;
  return schemaFault(output, parts, "the tool gives");
}

const INDEX = /^(?:0|[1-9]\d*)$/;
const partsOf = (path: string): string[] => path.split("/").slice(1);

/** Names the fault if a value of a schema can have no such path; undefined where the schema does not say. */
function schemaFault(root: object | undefined, parts: readonly string[], has: string): string | undefined {
  let schema: unknown = root;
  for (const part of parts) {
    if (!isRecord(schema)) return undefined;
    const { properties, additionalProperties, items, type } = schema;
    if (type === "array") {
      if (!INDEX.test(part)) return `"${part}" is in a list, and is not a number from 0`;
      schema = items;
      continue;
    }
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    const known = isRecord(properties) ? properties : {};
    if (!Object.hasOwn(known, name) && additionalProperties === false)
      return `${has} no "${name}". ${namesHelp(name, Object.keys(known))}`;
    schema = Object.hasOwn(known, name) ? known[name] : undefined;
  }
  return undefined;
}
