import type { Kept, KeptText } from "@rockbot/console/api";
import { type CallRecord, type KeptTexts, readKept } from "@rockbot/records/journal";
import type { ToolCaller } from "@rockbot/tools";
import type { FindCall } from "./call-again.ts";
import { findCall } from "./find-call.ts";
import type { OperatorBindings } from "./operator.ts";

const NAMES = ["arguments", "result"] as const;
const SIGHTS = { arguments: "arguments", result: "results" } as const;

/** The texts of a call that are kept and that the operator may see. Each that it gets has a line in the audit log. */
export async function keptFor(
  { operator, see }: Pick<OperatorBindings, "operator" | "see">,
  call: CallRecord,
  journals: readonly ToolCaller["journal"][],
): Promise<Kept> {
  const mayRead = NAMES.some((name) => operator.sees.has(SIGHTS[name]));
  const texts = mayRead ? await readKept(journals, call) : undefined;
  const textOf = async (name: (typeof NAMES)[number]): Promise<KeptText> => {
    if (!operator.sees.has(SIGHTS[name])) return { state: "not-seen" };
    const text = keptText(texts, name);
    return text.state === "not-kept" || (await see(SIGHTS[name], call.toolCallId)) ? text : { state: "not-seen" };
  };
  return { arguments: await textOf("arguments"), result: await textOf("result") };
}

function keptText(texts: KeptTexts | undefined, name: (typeof NAMES)[number]): KeptText {
  const text = texts?.[name];
  if (texts === undefined || text === undefined) return { state: "not-kept" };
  const { cut, redacted, until } = texts;
  return { state: "kept", text, isCut: cut.includes(name), isRedacted: redacted.includes(name), until };
}

/** Finds calls to make again in these journals. Arguments from which something is missing are none. */
export const withKeptArguments =
  (journals: () => readonly ToolCaller["journal"][]): FindCall =>
  async (toolCallId) => {
    const record = await findCall(journals(), toolCallId);
    if (record === null) return undefined;
    const texts = await readKept(journals(), record);
    return { record, args: wholeArguments(texts) };
  };

/** The arguments as they were sent; undefined if something is missing from them. */
export const wholeArguments = (texts: KeptTexts | undefined): string | undefined =>
  texts?.cut.includes("arguments") || texts?.redacted.includes("arguments") ? undefined : texts?.arguments;
