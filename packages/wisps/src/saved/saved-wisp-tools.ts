import { changeRefusal, formFault, saveNamed, trustIn, withStore } from "@rockbot/agent/plugin";
import { isRecord } from "@rockbot/base";
import {
  ToolError,
  ToolErrorCode,
  type ToolSaveWispInput,
  type ToolSaveWispOutput,
  tools,
  type WispDefinition,
} from "@rockbot/contracts";
import { schemaCompiler } from "@rockbot/policy";
import { defineTool, type Tool, type ToolResult } from "@rockbot/tools";
import { type KeptWisp, wispToolOf } from "../pipeline/kept-wisp.ts";
import { availableTo, checkDefinition, faulty } from "../read/read-definitions.ts";
import { taintOf } from "../run/step-values.ts";
import { callsOf, type SavedWispParts } from "./saved-wisp-tool.ts";
import { wispHash } from "./wisp-hash.ts";

export interface SavedWispToolsParts extends SavedWispParts {
  readonly maxWispsPerCaller: number;
  /** True if the turn has read untrusted content by now. */
  readonly hasReadUntrusted: () => boolean;
}

const MAX_LISTED = 100;
/** The longest definition, and the longest schema, as JSON. */
const MAX_DEFINITION = 65_536;
const MAX_SCHEMA = 32_768;

/** A model's API refuses a request for a tool whose schema has others: then no turn of the caller could ask it. */
const TOP_KEYS: readonly string[] = ["type", "properties", "required", "additionalProperties", "description", "$defs"];
const ARGUMENT = /^[A-Za-z0-9_-]{1,64}$/;

/** The tools of a session for wisps that are kept. */
export const savedWispTools = (parts: SavedWispToolsParts): readonly Tool[] => [
  saveTool(parts),
  listTool(parts),
  getTool(parts),
  deleteTool(parts),
];

function saveTool(parts: SavedWispToolsParts): Tool {
  const { caller: maker, saved, maxWispsPerCaller: maxOfMaker } = parts;
  return defineTool(tools.saveWisp, async (input, { hasReadUntrusted = false, grant }) => {
    const { name, definition, input_schema: inputSchema, version } = input;
    const { record, isChanged } = await saveNamed<KeptWisp>({
      kind: "wisp",
      store: saved.store,
      maker,
      name,
      version,
      maxOfMaker,
      hasReadUntrusted: hasReadUntrusted || parts.hasReadUntrusted(),
      grant,
      now: Date.now(),
      content: {
        definition: definition as unknown as WispDefinition,
        ...(inputSchema === undefined ? {} : { inputSchema }),
      },
      hashOf: wispHash,
      faults: async () => [
        ...[formFault(name, "first-result") ?? []].flat(),
        ...(await schemaFaults(inputSchema)),
        ...definitionFaults(input, parts),
      ],
      refusal: (faults) => faulty("The wisp was not saved", faults),
    });
    return savedResult(isChanged ? "Saved" : "Nothing changes in", record);
  });
}

/** Checked as it would run now, with the rights of its maker. */
function definitionFaults(
  { name, definition, input_schema: input = { additionalProperties: false } }: ToolSaveWispInput,
  parts: SavedWispToolsParts,
): readonly string[] {
  const chars = JSON.stringify(definition).length;
  if (chars > MAX_DEFINITION) return [`definition: expected at most ${MAX_DEFINITION} characters, got ${chars}`];
  const { caller: maker } = parts;
  const calls = callsOf({ name, maker }, parts);
  return checkDefinition(definition, { ...availableTo(calls), input }).faults;
}

async function schemaFaults(schema: object | undefined): Promise<readonly string[]> {
  if (schema === undefined) return [];
  const chars = JSON.stringify(schema).length;
  if (chars > MAX_SCHEMA) return [`input_schema: expected at most ${MAX_SCHEMA} characters, got ${chars}`];
  if (!isRecord(schema) || schema["type"] !== "object")
    return ['input_schema: expected a JSON Schema with type: "object"'];
  const odd = Object.keys(schema).filter((key) => !TOP_KEYS.includes(key));
  const names = isRecord(schema["properties"])
    ? Object.keys(schema["properties"]).filter((name) => !ARGUMENT.test(name))
    : [];
  if (odd.length + names.length > 0)
    return [
      ...odd.map((key) => `input_schema: has "${key}" at its top, where models take ${TOP_KEYS.join(", ")} alone`),
      ...names.map(
        (name) =>
          `input_schema: has the argument ${JSON.stringify(name.slice(0, 60))}. Use at most 64 of letters, digits, _ and -`,
      ),
    ];
  const compile = await schemaCompiler();
  try {
    compile(schema);
    return [];
  } catch (error) {
    return [
      `input_schema: is not a usable JSON Schema: ${error instanceof Error ? error.message.slice(0, 300) : String(error)}`,
    ];
  }
}

function savedResult(did: string, { name, version, hash, approvedHash }: KeptWisp): ToolResult<ToolSaveWispOutput> {
  const isShared = approvedHash === hash;
  const tool = wispToolOf(name);
  return {
    content: `${did} the wisp ${name}, version ${version}. It is the tool ${tool} from your next turn on. ${isShared ? "Others have it as it is." : "You alone have it."}`,
    structured: { name, tool, version, hash, is_shared: isShared },
  };
}

function listTool({ caller, saved }: SavedWispToolsParts): Tool {
  return defineTool(tools.listWisps, async () => {
    const visible = (await saved.visibleTo(caller)).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const shown = visible.slice(0, MAX_LISTED);
    const wisps = shown.map(({ name, definition, version, maker, hash, approvedHash, isUntrusted }) => ({
      name,
      tool: wispToolOf(name),
      description: definition.description,
      version,
      is_own: maker === caller,
      is_shared: approvedHash === hash,
      is_untrusted: isUntrusted,
    }));
    const lines = wisps.map(
      ({ tool, version, is_own: isOwn, description }) =>
        `- ${tool} (version ${version}${isOwn ? ", yours" : ""}): ${description}`,
    );
    const more = visible.length > shown.length ? [`${visible.length - shown.length} more.`] : [];
    const content =
      lines.length === 0 ? "There are no saved wisps yet. save_wisp makes one." : [...lines, ...more].join("\n");
    return { content, structured: { wisps, total: visible.length }, trust: trustIn(taintOf(shown.map(taintOfKept))) };
  });
}

function getTool({ caller, saved }: SavedWispToolsParts): Tool {
  return defineTool(tools.getWisp, async ({ name }) => {
    const wisp = await saved.find(caller, name);
    const { definition, inputSchema = null, version, hash, maker, approvedHash, isUntrusted } = wisp;
    const structured = {
      name,
      definition: { ...definition },
      input_schema: inputSchema === null ? null : { ...inputSchema },
      version,
      hash,
      is_own: maker === caller,
      is_shared: approvedHash === hash,
      is_untrusted: isUntrusted,
    };
    return { content: JSON.stringify(structured, undefined, 2), structured, trust: trustIn(taintOfKept(wisp)) };
  });
}

function deleteTool({ caller, saved }: SavedWispToolsParts): Tool {
  return defineTool(tools.deleteWisp, async ({ name }, { grant }) => {
    const { id, maker, version, grant: kept } = await saved.find(caller, name);
    const refusal = maker === caller ? changeRefusal(kept, grant) : "another caller made it, who alone may change it";
    if (refusal !== undefined)
      throw new ToolError(ToolErrorCode.Denied, `The wisp "${name}" was not deleted: ${refusal}.`);
    if ((await withStore("delete the wisp", () => saved.store.remove(id, version))) === "stale")
      throw new ToolError(
        ToolErrorCode.InvalidArguments,
        `The wisp "${name}" was not deleted: it was changed in this moment. Read it again.`,
      );
    return { content: `Deleted the wisp ${name}, which was version ${version}.`, structured: { name, version } };
  });
}

const taintOfKept = ({ name, isUntrusted }: KeptWisp) => ({ isUntrusted, origin: `wisp ${name}` });
