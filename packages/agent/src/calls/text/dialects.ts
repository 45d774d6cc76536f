import { jsonCalls, jsonEnd, type PlacedCall, type WrittenCall } from "./json-calls.ts";

/** Says of which type a parameter of a tool is, if that is known. */
export type TypeOf = (toolName: string, parameter: string) => string | undefined;

/** Finds the calls that are written in one way. */
type Dialect = (text: string, typeOf: TypeOf) => readonly PlacedCall[];

const placed = (match: { readonly start: number; readonly end: number }, calls: readonly WrittenCall[]): PlacedCall[] =>
  calls.map((call) => ({ ...call, ...match }));

const spanOf = (match: RegExpExecArray): { readonly start: number; readonly end: number } => ({ start: match.index, end: match.index + match[0].length });

/** `<tool_call>{"name": …, "arguments": …}</tool_call>`, of Hermes and Qwen; GLM has the name and `<arg_key>`s there. The end may be missing. */
const taggedJson: Dialect = (text, typeOf) =>
  [...text.matchAll(/<(tool_call|function_call|tool_use|tool_code|function)>\s*([\s\S]*?)\s*(?:<\/\1>|$)/g)].flatMap((match) => {
    const inner = match[2] ?? "";
    const calls = jsonCalls(inner);
    if (calls.length > 0) return placed(spanOf(match), calls);
    const name = /^[\w.-]+/.exec(inner)?.[0];
    const keys = [...inner.matchAll(/<arg_key>([\s\S]*?)<\/arg_key>\s*<arg_value>([\s\S]*?)<\/arg_value>/g)];
    return name === undefined || keys.length === 0 ? [] : placed(spanOf(match), [parameterCall(name, keys, typeOf)]);
  });

/** `<function=name>{…}</function>` of Llama, and with `<parameter=key>value</parameter>` of Qwen for code. */
const functionTag: Dialect = (text, typeOf) =>
  [...text.matchAll(/<function=([\w.-]+)>\s*([\s\S]*?)\s*(?:<\/function>|$)/g)].flatMap((match) => {
    const [, name = "", body = ""] = match;
    const parameters = [...body.matchAll(/<parameter=([\w.-]+)>\n?([\s\S]*?)\n?<\/parameter>/g)];
    return placed(spanOf(match), [parameters.length > 0 ? parameterCall(name, parameters, typeOf) : { name, arguments: body }]);
  });

/** `<invoke name="…"><parameter name="…">value</parameter></invoke>`. */
const invokeTag: Dialect = (text, typeOf) =>
  [...text.matchAll(/<invoke name="([\w.-]+)">\s*([\s\S]*?)\s*<\/invoke>/g)].map((match) => {
    const [, name = "", body = ""] = match;
    return { ...parameterCall(name, [...body.matchAll(/<parameter name="([\w.-]+)"[^>]*>([\s\S]*?)<\/parameter>/g)], typeOf), ...spanOf(match) };
  });

/** A mark of the model's own, then JSON: `[TOOL_CALLS][…]` of Mistral, `<|python_tag|>{…}` of Llama; or a name, `[ARGS]` and JSON. */
const marked: Dialect = (text) =>
  [...text.matchAll(/(?:\[TOOL_CALLS\]|<\|python_tag\|>|<\|tool_call\|>|<\|tool_calls\|>)\s*(?:([\w.-]+)\s*\[ARGS\]\s*)?(?=[[{])/g)].flatMap((match) => {
    const from = match.index + match[0].length;
    const end = jsonEnd(text, from);
    if (end === -1) return [];
    const json = text.slice(from, end);
    return placed({ start: match.index, end }, match[1] === undefined ? jsonCalls(json) : [{ name: match[1], arguments: json }]);
  });

/** DeepSeek's tokens, when its server does not read them. */
const deepSeek: Dialect = (text) =>
  [
    ...text.matchAll(
      /<｜tool▁call▁begin｜>(?:function)?(?:<｜tool▁sep｜>)?([\w.-]+)(?:<｜tool▁sep｜>)?\s*(?:```json)?\s*([\s\S]*?)\s*(?:```)?\s*<｜tool▁call▁end｜>/g,
    ),
  ].map((match) => ({
    name: match[1] ?? "",
    arguments: match[2] ?? "",
    ...spanOf(match),
  }));

/** Two lines with a word each before the name and the arguments: those of the .NET original, and `Action:` of ReAct; or a bare name, then JSON. */
const lines: Dialect = (text) =>
  [
    ...text.matchAll(/^[ \t]*tool_call_name:[ \t]*`?([\w.-]+)`?[ \t]*\r?\n+[ \t]*tool_call_arguments:[ \t]*\n?/gim),
    ...text.matchAll(/^[ \t]*Action:[ \t]*`?([\w.-]+)`?[ \t]*\r?\n+[ \t]*Action Input:[ \t]*/gm),
    ...text.matchAll(/^[ \t]*`?([\w-]+)`?[ \t]*\r?\n(?=[ \t]*\{)[ \t]*/gm),
  ].flatMap((match) => {
    const from = match.index + match[0].length;
    const end = text[from] === "{" ? jsonEnd(text, from) : -1;
    const lineEnd = text.indexOf("\n", from);
    const to = end !== -1 ? end : lineEnd === -1 ? text.length : lineEnd;
    return [{ name: match[1] ?? "", arguments: text.slice(from, to), start: match.index, end: to }];
  });

/** A fenced block that is JSON. */
const fencedJson: Dialect = (text) =>
  [...text.matchAll(/```(?:json|tool_call|tool_code|tool)?[ \t]*\n([\s\S]*?)\n?[ \t]*```/g)].flatMap((match) =>
    placed(spanOf(match), jsonCalls(match[1] ?? "")),
  );

/** JSON that stands by itself: it begins a line and ends one. */
const bareJson: Dialect = (text) => {
  const found: PlacedCall[] = [];
  for (const match of text.matchAll(/^[ \t]*(?=[[{])/gm)) {
    const start = match.index + match[0].length;
    if (start < (found.at(-1)?.end ?? 0)) continue;
    const end = jsonEnd(text, start);
    if (end !== -1 && /^[ \t]*(?:\r?\n|$)/.test(text.slice(end))) found.push(...placed({ start, end }, jsonCalls(text.slice(start, end))));
  }
  return found;
};

/** With marks that nothing else has: they are calls wherever they stand. */
export const explicitDialects: readonly Dialect[] = [taggedJson, functionTag, invokeTag, marked, deepSeek, lines];
/** Also the form of an example: they are calls only at the end of an answer. */
export const looseDialects: readonly Dialect[] = [fencedJson, bareJson];

/** Values that stand by themselves have no type: the tool's schema says which of them are texts. */
function parameterCall(name: string, parameters: readonly RegExpExecArray[], typeOf: TypeOf): WrittenCall {
  const entries = parameters.map((match): [string, unknown] => {
    const [, key = "", value = ""] = match;
    return [key.trim(), typeOf(name, key.trim()) === "string" ? value : jsonOrText(value)];
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
