import { type Enclosed, enclosed } from "./enclosed.ts";
import { jsonCalls, jsonEnds, type PlacedCall, type WrittenCall } from "./json-calls.ts";

/** Says of which type a parameter of a tool is, if that is known. */
export type TypeOf = (toolName: string, parameter: string) => string | undefined;

/** Finds the calls that are written in one way. */
type Dialect = (text: string, typeOf: TypeOf) => readonly PlacedCall[];

const placed = (place: { readonly start: number; readonly end: number }, calls: readonly WrittenCall[]): PlacedCall[] =>
  calls.map((call) => ({ ...call, start: place.start, end: place.end }));

/**
 * `<tool_call>{"name": …, "arguments": …}</tool_call>`, of Hermes and Qwen; GLM has the name and `<arg_key>`s there.
 * The end may be missing.
 */
const taggedJson: Dialect = (text, typeOf) =>
  enclosed(text, /<(tool_call|function_call|tool_use|tool_code|function)>/g, ([, tag]) => `</${tag}>`, {
    mayLackEnd: true,
  }).flatMap((place) => {
    const inner = place.inner.trim();
    const calls = jsonCalls(inner);
    if (calls.length > 0) return placed(place, calls);
    const name = /^[\w.-]+/.exec(inner)?.[0];
    const keys = enclosed(inner, /<arg_key>([^<]*)<\/arg_key>\s*<arg_value>/g, () => "</arg_value>");
    return name === undefined || keys.length === 0 ? [] : placed(place, [parameterCall(name, keys, typeOf)]);
  });

/** `<function=name>{…}</function>` of Llama, and with `<parameter=key>value</parameter>` of Qwen for code. */
const functionTag: Dialect = (text, typeOf) =>
  enclosed(text, /<function=([\w.-]+)>/g, () => "</function>", { mayLackEnd: true }).flatMap((place) => {
    const name = place.begin[1] ?? "";
    const parameters = enclosed(place.inner, /<parameter=([\w.-]+)>/g, () => "</parameter>").map((one) => ({
      ...one,
      inner: one.inner.replace(/^\n|\n$/g, ""),
    }));
    return placed(place, [
      parameters.length > 0 ? parameterCall(name, parameters, typeOf) : { name, arguments: place.inner.trim() },
    ]);
  });

/** `<invoke name="…"><parameter name="…">value</parameter></invoke>`. */
const invokeTag: Dialect = (text, typeOf) =>
  enclosed(text, /<invoke name="([\w.-]+)">/g, () => "</invoke>").flatMap((place) => {
    const parameters = enclosed(place.inner, /<parameter name="([\w.-]+)"[^<>]*>/g, () => "</parameter>");
    return placed(place, [parameterCall(place.begin[1] ?? "", parameters, typeOf)]);
  });

/**
 * A mark of the model's own, then JSON: `[TOOL_CALLS][…]` of Mistral, `<|python_tag|>{…}` of Llama; or a name, `[ARGS]`
 * and JSON.
 */
const marked: Dialect = (text) => {
  const endOf = jsonEnds(text);
  return [
    ...text.matchAll(
      /(?:\[TOOL_CALLS\]|<\|python_tag\|>|<\|tool_call\|>|<\|tool_calls\|>)\s*(?:([\w.-]+)\s*\[ARGS\]\s*)?(?=[[{])/g,
    ),
  ].flatMap((match) => {
    const from = match.index + match[0].length;
    const end = endOf(from);
    if (end === -1) return [];
    const json = text.slice(from, end);
    return placed(
      { start: match.index, end },
      match[1] === undefined ? jsonCalls(json) : [{ name: match[1], arguments: json }],
    );
  });
};

/** DeepSeek's tokens, when its server does not read them. */
const deepSeek: Dialect = (text) =>
  enclosed(
    text,
    /<｜tool▁call▁begin｜>(?:function)?(?:<｜tool▁sep｜>)?([\w.-]+)(?:<｜tool▁sep｜>)?\s*(?:```json)?/g,
    () => "<｜tool▁call▁end｜>",
  ).flatMap((place) => {
    const inner = place.inner.trim();
    const json = inner.endsWith("```") ? inner.slice(0, -3).trim() : inner;
    return placed(place, [{ name: place.begin[1] ?? "", arguments: json }]);
  });

/**
 * Two lines with a word each before the name and the arguments: those of the .NET original, and `Action:` of ReAct; or
 * a bare name, then JSON.
 */
const lines: Dialect = (text) => {
  const endOf = jsonEnds(text);
  return [
    ...text.matchAll(/^[ \t]*tool_call_name:[ \t]*`?([\w.-]+)`?[ \t]*\r?\n+[ \t]*tool_call_arguments:[ \t]*\n?/gim),
    ...text.matchAll(/^[ \t]*Action:[ \t]*`?([\w.-]+)`?[ \t]*\r?\n+[ \t]*Action Input:[ \t]*/gm),
    ...text.matchAll(/^[ \t]*`?([\w-]+)`?[ \t]*\r?\n(?=[ \t]*\{)[ \t]*/gm),
  ].flatMap((match) => {
    const from = match.index + match[0].length;
    const end = text[from] === "{" ? endOf(from) : -1;
    const lineEnd = text.indexOf("\n", from);
    const to = end !== -1 ? end : lineEnd === -1 ? text.length : lineEnd;
    return [{ name: match[1] ?? "", arguments: text.slice(from, to), start: match.index, end: to }];
  });
};

/** A fenced block that is JSON. */
const fencedJson: Dialect = (text) =>
  enclosed(text, /```(?:json|tool_call|tool_code|tool)?[ \t]*\n/g, () => "```").flatMap((place) =>
    placed(place, jsonCalls(place.inner)),
  );

/** JSON that stands by itself: it begins a line and ends one. */
const bareJson: Dialect = (text) => {
  const endOf = jsonEnds(text);
  const found: PlacedCall[] = [];
  for (const match of text.matchAll(/^[ \t]*(?=[[{])/gm)) {
    const start = match.index + match[0].length;
    if (start < (found.at(-1)?.end ?? 0)) continue;
    const end = endOf(start);
    if (end !== -1 && /^[ \t]*(?:\r?\n|$)/.test(text.slice(end)))
      found.push(...placed({ start, end }, jsonCalls(text.slice(start, end))));
  }
  return found;
};

/** With marks that nothing else has: they are calls wherever they stand. */
export const explicitDialects: readonly Dialect[] = [taggedJson, functionTag, invokeTag, marked, deepSeek, lines];
/** Also the form of an example: they are calls only at the end of an answer. */
export const looseDialects: readonly Dialect[] = [fencedJson, bareJson];

/** Values that stand by themselves have no type: the tool's schema says which of them are texts. */
function parameterCall(name: string, parameters: readonly Enclosed[], typeOf: TypeOf): WrittenCall {
  const entries = parameters.map(({ begin, inner }): [string, unknown] => {
    const key = (begin[1] ?? "").trim();
    return [key, typeOf(name, key) === "string" ? inner : jsonOrText(inner)];
  });
  return { name, arguments: JSON.stringify(Object.fromEntries(entries)) };
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
