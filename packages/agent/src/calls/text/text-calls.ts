import type { ModelTool } from "@rockbot/llm";
import { explicitDialects, looseDialects, type TypeOf } from "./dialects.ts";
import type { PlacedCall, WrittenCall } from "./json-calls.ts";

/** The calls in a text, and what the text says before them. */
export interface TextCalls {
  readonly text: string;
  readonly calls: readonly WrittenCall[];
}

export interface ReadTextCallsOptions {
  readonly tools: readonly ModelTool[];
  /** The results that the model has read: what it repeats of them is a quotation, not a call. */
  readonly results: readonly string[];
}

/** A longer text is not looked through. */
const MAX_LENGTH = 256 * 1024;

/**
 * Reads the tool calls that a model wrote into its text. Only tools that the model has been given are called, and
 * nothing that is quoted from a result. What follows the first call is left out: models write there what they imagine
 * the result to be.
 */
export function readTextCalls(text: string, { tools, results }: ReadTextCallsOptions): TextCalls {
  if (text.length > MAX_LENGTH || !/[{<[]/.test(text)) return { text, calls: [] };
  const shown = withoutQuotations(text);
  const names = new Set(tools.map(({ name }) => name));
  const typeOf = parameterTypes(tools);
  const read = results.map(letters);
  const isCall = (call: PlacedCall): boolean => names.has(call.name) && !isQuoted(call, shown, read);

  const explicit = explicitDialects.flatMap((dialect) => dialect(shown, typeOf)).filter(isCall);
  const loose =
    explicit.length > 0 ? [] : atEnd(shown, looseDialects.flatMap((dialect) => dialect(shown, typeOf)).filter(isCall));
  const calls = withoutOverlaps(explicit.length > 0 ? explicit : loose);
  const first = calls[0];
  if (first === undefined) return { text, calls: [] };
  const before = text
    .slice(0, first.start)
    .replace(/(?:<(?:tool_calls|function_calls)>|```(?:\w+)?|<｜tool▁calls▁begin｜>|Thought:\s*$)\s*$/, "");
  return { text: before.trim(), calls: calls.map(({ name, arguments: args }) => ({ name, arguments: args })) };
}

/** Quoted lines, and what stands between marks of untrusted content, with blanks in their place. */
const withoutQuotations = (text: string): string =>
  text.replaceAll(/<untrusted-[\s\S]*?(?:<\/untrusted-[^>\n]{0,64}>|(?![\s\S]))|^[ \t]*>.*$/gm, (quoted) =>
    quoted.replaceAll(/[^\n]/g, " "),
  );

/** Only those after which nothing stands but others of them. */
function atEnd(text: string, calls: readonly PlacedCall[]): readonly PlacedCall[] {
  let end = text.trimEnd().length;
  const last: PlacedCall[] = [];
  for (const call of [...calls].sort((a, b) => b.end - a.end)) {
    if (text.slice(call.end, end).trim() !== "" && call.end < end) break;
    last.unshift(call);
    end = Math.min(end, call.start);
  }
  return last;
}

/** A call that stands inside another form is that form's. Several calls of one form share its place. */
function withoutOverlaps(calls: readonly PlacedCall[]): readonly PlacedCall[] {
  const kept: PlacedCall[] = [];
  for (const call of [...calls].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = kept.at(-1);
    const isSamePlace = last !== undefined && last.start === call.start && last.end === call.end;
    if (
      last === undefined ||
      call.start >= last.end ||
      (isSamePlace && !kept.some((other) => other.name === call.name && other.arguments === call.arguments))
    )
      kept.push(call);
  }
  return kept;
}

/** One that a result names with the same arguments; one without arguments if a result has it as it is written. */
function isQuoted(
  { name, arguments: args, start, end }: PlacedCall,
  text: string,
  results: readonly string[],
): boolean {
  const sought =
    letters(args) === "" ? [letters(text.slice(start, end).replace(/^```\w*/, ""))] : [letters(name), letters(args)];
  return results.some((result) => sought.every((part) => result.includes(part)));
}

/** So that another layout of the same is the same. */
const letters = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "");

function parameterTypes(tools: readonly ModelTool[]): TypeOf {
  return (toolName, parameter) => {
    const { properties = {} } = (tools.find(({ name }) => name === toolName)?.parameters ?? {}) as {
      readonly properties?: Readonly<Record<string, { readonly type?: unknown } | undefined>>;
    };
    const type = Object.hasOwn(properties, parameter) ? properties[parameter]?.type : undefined;
    return typeof type === "string" ? type : undefined;
  };
}
