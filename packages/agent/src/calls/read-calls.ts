import { nearestTools } from "@rockbot/contracts";
import type { ModelAnswer, ModelTool } from "@rockbot/llm";
import type { StoredAnswer, StoredCall } from "../store/turn-store.ts";
import { readArguments } from "./repair-arguments.ts";
import { refusedText } from "./session-rights.ts";
import { readTextCalls } from "./text/text-calls.ts";

export interface ReadCallsOptions {
  /** All that the model has been given. */
  readonly tools: readonly ModelTool[];
  /** Why a tool of another name is not among them, if that is so by the session's rights. */
  readonly refusal: (name: string) => string | undefined;
  /** True if the caller may not use a tool of that name, whether or not it exists. @default so it is */
  readonly isDenied?: ((name: string) => boolean) | undefined;
  /** The results that it has read in this turn. */
  readonly results: readonly string[];
  /** Which answer of the turn it is, from 0. */
  readonly iteration: number;
}

/** So many calls of one answer run, and so many are answered; the rest is left out. */
const MAX_RUN = 32;
const MAX_ANSWERED = 128;
const ID = /^[A-Za-z0-9_-]{1,64}$/;
/** Prefixes that models put before names. */
const PREFIX = /^(?:functions?|tools?|default_api|api|mcp)[.:/]/;

/**
 * An answer as it is kept and acted on: its calls are read from its text where the model wrote them there, each has an
 * id of its own, the name of a tool and arguments that can be parsed. What was changed, or why a call does not run, is
 * noted with it, for the model.
 */
export function readCalls(
  answer: ModelAnswer,
  { tools, refusal, isDenied = () => true, results, iteration }: ReadCallsOptions,
): StoredAnswer {
  const written = answer.toolCalls.length > 0 ? undefined : readTextCalls(answer.text, { tools, results });
  const isWritten = written !== undefined && written.calls.length > 0;
  const found = isWritten ? written.calls.map((call) => ({ id: "", ...call })) : answer.toolCalls;
  const ids = new Set<string>();
  const toolCalls = found.slice(0, MAX_ANSWERED).map((call, index): StoredCall => {
    const id = ID.test(call.id) && !ids.has(call.id) ? call.id : `call_${iteration}_${index}`;
    ids.add(id);
    if (index >= MAX_RUN)
      return {
        ...call,
        id,
        refusal: `Not run: an answer may have ${MAX_RUN} calls. Make this one again if it is still needed.`,
      };
    return {
      ...readCall(call, { tools, refusal, isDenied, isCut: answer.finish === "length" && index === found.length - 1 }),
      id,
    };
  });
  return {
    ...answer,
    text: isWritten ? written.text : answer.text,
    toolCalls,
    ...(isWritten ? { finish: "tool_calls" } : {}),
  };
}

type ReadCallOptions = Pick<ReadCallsOptions, "tools" | "refusal"> & {
  readonly isDenied: (name: string) => boolean;
  readonly isCut: boolean;
};

function readCall(call: StoredCall, { tools, refusal, isDenied, isCut }: ReadCallOptions): StoredCall {
  const known = knownName(call.name, tools);
  if (known === undefined) {
    const why = refusal(call.name);
    return {
      ...call,
      arguments: "{}",
      refusal: why === undefined ? unknownTool(call.name, tools, isDenied) : `denied: ${refusedText(call.name, why)}`,
    };
  }
  const renamed = known === call.name ? [] : [`there is no tool "${call.name}": "${known}" was called`];
  const read = readArguments(call.arguments);
  if (!read.ok) {
    const help = isCut
      ? "Your answer was cut off as it was too long. Make the call again with shorter arguments."
      : "Make the call again with correct arguments.";
    const shown = call.arguments.length > 200 ? `${call.arguments.slice(0, 200)}…` : call.arguments;
    return {
      ...call,
      name: known,
      arguments: "{}",
      refusal: `invalid_arguments: "${known}" was not called: its arguments cannot be used, as ${read.fault}. They were: ${shown}\n${help}`,
    };
  }
  const repairs = [...renamed, ...(read.repair === undefined ? [] : [`about its arguments: ${read.repair}`])];
  return {
    ...call,
    name: known,
    arguments: read.text,
    ...(repairs.length === 0 ? {} : { repair: repairs.join("; ") }),
  };
}

/** The tool that a name means: itself, or without a prefix, or but for case and signs if only one is so. */
function knownName(name: string, tools: readonly ModelTool[]): string | undefined {
  const names = tools.map((tool) => tool.name);
  const plain = name.trim().replace(PREFIX, "");
  const exact = [name, plain].find((candidate) => names.includes(candidate));
  if (exact !== undefined) return exact;
  const alike = names.filter((known) => letters(known) === letters(plain));
  return alike.length === 1 ? alike[0] : undefined;
}

const letters = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");

function unknownTool(name: string, tools: readonly ModelTool[], isDenied: (name: string) => boolean): string {
  const plain = name.trim().replace(PREFIX, "");
  const known = tools.map((tool) => tool.name);
  const { names, more } = nearestTools(plain, known, { isDenied: isDenied(plain) });
  const nearest = `The nearest are: ${names.join(", ")}${more === 0 ? "" : `, and ${more} more`}.`;
  return `tool_not_found: There is no tool "${name.slice(0, 100)}". ${names.length === 0 ? "Call one of the tools that you have been given, or answer without." : nearest}`;
}
