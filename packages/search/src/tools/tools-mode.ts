import { type ContentTrust, parseArguments, ToolError, ToolErrorCode, tools, trustOfAll } from "@rockbot/contracts";
import {
  defineTool,
  innerCallId,
  type ListedTool,
  listTools,
  type Tool,
  type ToolCaller,
  type ToolContext,
} from "@rockbot/tools";
import type { ServiceEntry } from "../services/service-entry.ts";
import { callNameOf, knownService, resolveTool } from "./resolve-tool.ts";

/** The caller whose tools they stand for, and the services that each asker may see. */
export interface ToolsModeOptions {
  readonly caller: Pick<ToolCaller, "call" | "toolsOf">;
  /** The entries that a caller may see, in a session with this grant. */
  readonly entriesOf: (caller: string, grant?: string) => readonly ServiceEntry[];
  /** Further tools of a turn that its model is not given, with their schemas. @default none */
  readonly soughtBy?:
    | ((caller: string) => readonly Pick<ListedTool, "name" | "description" | "parameters">[])
    | undefined;
}

/**
 * `get_tool_details` and `invoke_tool`: with `search_known_services` they stand for all tools, so that a model need not
 * be given each.
 */
export function toolsModeTools(options: ToolsModeOptions): readonly Tool[] {
  return [getToolDetails(options), invokeTool(options)];
}

/** `get_tool_details`: of a service's tools the first sentence of each; of named tools all. */
function getToolDetails({ caller, entriesOf, soughtBy = () => [] }: ToolsModeOptions): Tool {
  return defineTool(tools.getToolDetails, async ({ service, names }, { caller: by, grant }) => {
    if (service === undefined && names === undefined)
      throw new ToolError(
        ToolErrorCode.InvalidArguments,
        'Cannot give the details of tools: name a service, or tools in "names"',
      );
    const entries = entriesOf(by, grant);
    const { found, trust } =
      names === undefined
        ? outline(knownService(entries, service ?? ""))
        : detailed(
            names.map((name) => resolveTool(entries, name, service)),
            caller.toolsOf(by),
            soughtBy(by),
          );
    return { content: JSON.stringify(found), structured: { tools: found }, trust };
  });
}

interface Details {
  readonly found: { name: string; description: string; parameters?: Record<string, unknown> }[];
  readonly trust: ContentTrust | undefined;
}

function outline(entry: ServiceEntry): Details {
  return {
    found: entry.tools.map(({ name, description }) => ({
      name: callNameOf(entry, name),
      description: firstSentence(description),
    })),
    trust: entry.trust,
  };
}

function detailed(
  resolved: readonly ReturnType<typeof resolveTool>[],
  known: ReturnType<ToolCaller["toolsOf"]>,
  sought: ReturnType<NonNullable<ToolsModeOptions["soughtBy"]>>,
): Details {
  const wanted = new Set(resolved.map(({ callName }) => callName));
  const own = sought.filter(({ name }) => wanted.has(name));
  const chosen = known.filter(({ name }) => wanted.has(name) && !own.some((tool) => tool.name === name));
  return {
    found: [...own, ...listTools(chosen)].map(({ name, description, parameters }) => ({
      name,
      description,
      parameters: parameters as Record<string, unknown>,
    })),
    trust: trustOfAll(chosen.map((tool) => tool.trust)),
  };
}

const MAX_SENTENCE = 160;

function firstSentence(text: string): string {
  const sentence = text.split(/(?<=[.!?])\s/, 1)[0] ?? "";
  return sentence.length > MAX_SENTENCE ? `${sentence.slice(0, MAX_SENTENCE - 1)}…` : sentence;
}

/**
 * `invoke_tool`: a call within the call that asks for it, whose caller, session, deadline, cancellation, mark and
 * progress are the same.
 */
function invokeTool({ caller, entriesOf }: ToolsModeOptions): Tool {
  return defineTool(tools.invokeTool, async ({ name, service, arguments: given }, context) => {
    const { callName } = resolveTool(entriesOf(context.caller, context.grant), name, service);
    const { content, isError, structured, trust } = await caller.call(callName, argumentsOf(given), {
      toolCallId: innerCallId(context.toolCallId),
      parent: context as ToolContext,
      sessionId: context.sessionId,
      onBehalfOf: context.caller,
      onProgress: context.progress,
      keep: (context as ToolContext).keep,
    });
    return { content: content ?? null, isError, structured: structured ?? undefined, trust: trust ?? undefined };
  });
}

/** The call that a call of `invoke_tool` makes, by the arguments of the latter; undefined if it makes none. */
export function invokedCall(
  entries: readonly ServiceEntry[],
  args: string,
): { readonly name: string; readonly arguments: string } | undefined {
  const parsed = parseArguments(args);
  if (!parsed.ok || !tools.invokeTool.validateInput(parsed.value)) return undefined;
  const { name, service, arguments: given } = parsed.value;
  try {
    return { name: resolveTool(entries, name, service).callName, arguments: JSON.stringify(argumentsOf(given)) };
  } catch {
    return undefined; // the call itself says what is wrong
  }
}

/** Models give the arguments as an object, or as the text of one. */
function argumentsOf(given: object | string | null | undefined): object {
  if (given == null || (typeof given === "string" && given.trim() === "")) return {};
  const parsed = typeof given === "string" ? parseArguments(given) : { ok: true as const, value: given };
  if (parsed.ok && typeof parsed.value === "object" && parsed.value !== null && !Array.isArray(parsed.value))
    return parsed.value;
  throw new ToolError(
    ToolErrorCode.InvalidArguments,
    'Cannot call "invoke_tool": arguments: expected an object, or a JSON object as text',
  );
}
