import { isRecord } from "@rockbot/base";
import { describeFaults, faultsText, parseJson } from "@rockbot/contracts";
import type { AnswerForm } from "@rockbot/llm";
import { schemaCompiler } from "@rockbot/policy";

/** The JSON of an answer, without what models write around it, or why it is not of the form, in words. */
export async function inForm(text: string, { schema }: AnswerForm): Promise<{ readonly json: string } | { readonly fault: string }> {
  const block = /```(?:json)?\s*\n([\s\S]*?)\n\s*```/.exec(text)?.[1] ?? "";
  const inner = text.slice(Math.max(0, text.indexOf("{")), text.lastIndexOf("}") + 1);
  for (const json of [text, block, inner].map((each) => each.trim())) {
    const read = parseJson(json);
    if (!read.ok) continue;
    if (schema === undefined) return isRecord(read.value) ? { json } : { fault: "it is JSON, but no object" };
    const validate = (await schemaCompiler())(schema);
    return validate(read.value) ? { json } : { fault: `it does not fit the JSON Schema: ${faultsText(describeFaults(validate, schema, read.value))}` };
  }
  return { fault: "it is no JSON that can be read" };
}
