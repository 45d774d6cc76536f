import { isRecord } from "@rockbot/base";
import { describeFaults, faultsText, parseJson } from "@rockbot/contracts";
import type { AnswerForm } from "@rockbot/llm";
import { schemaCompiler } from "@rockbot/policy";

/** The JSON of an answer, without what models write around it, or why it is not of the form, in words. */
export async function inForm(
  text: string,
  { schema }: AnswerForm,
): Promise<{ readonly json: string } | { readonly fault: string }> {
  const block = /```(?:json)?\s*\n([\s\S]*?)\n\s*```/.exec(text)?.[1] ?? "";
  const between = (open: string, close: string): string =>
    text.slice(Math.max(0, text.indexOf(open)), text.lastIndexOf(close) + 1);
  const validate = schema === undefined ? undefined : (await schemaCompiler({ isLenient: true }))(schema);
  let fault: string | undefined;
  for (const json of [text, block, between("{", "}"), between("[", "]")].map((each) => each.trim())) {
    const read = parseJson(json);
    if (!read.ok) continue;
    if (validate === undefined ? isRecord(read.value) : validate(read.value)) return { json };
    fault ??=
      validate === undefined || schema === undefined
        ? "it is JSON, but not an object"
        : `it does not fit the JSON Schema: ${faultsText(describeFaults(validate, schema, read.value))}`;
  }
  return { fault: fault ?? "it is not valid JSON" };
}
