import { createHash } from "node:crypto";
import type { ModelMessage, ModelToolCall } from "../model.ts";

type AssistantMessage = Extract<ModelMessage, { role: "assistant" }>;
type ToolMessage = Extract<ModelMessage, { role: "tool" }>;

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
/** OpenAI takes ids of 40 characters, Anthropic those of these characters. */
const ID = { openai: /^.{1,40}$/s, anthropic: /^[a-zA-Z0-9_-]{1,64}$/ };

/**
 * The messages as providers take them: each call has one result, right after it, and each result has a call. A call
 * whose result is not there gets one that says so; a result without a call is left out. So a history that was cut at
 * any place can be sent, and so can one that another model made: names and ids that this provider would refuse are
 * replaced, ids by a hash of them.
 */
export function pairToolMessages(
  messages: readonly ModelMessage[],
  protocol: "openai" | "anthropic",
): readonly ModelMessage[] {
  const paired: ModelMessage[] = [];
  const used = new Set<string>();
  for (let at = 0; at < messages.length; at++) {
    const message = messages[at] as ModelMessage;
    if (message.role === "tool") continue; // its call is not there, or has taken it
    if (message.role !== "assistant" || message.toolCalls === undefined || message.toolCalls.length === 0) {
      paired.push(message);
      continue;
    }
    const results = resultsAfter(messages, at);
    const calls = message.toolCalls.map((call) => ({ call, sent: sendable(call, ID[protocol], used) }));
    paired.push({ ...message, toolCalls: calls.map(({ sent }) => sent) } satisfies AssistantMessage);
    for (const { call, sent } of calls) paired.push(resultOf(call, sent, results));
  }
  return paired;
}

function resultsAfter(messages: readonly ModelMessage[], at: number): ToolMessage[] {
  const results: ToolMessage[] = [];
  for (let next = at + 1; messages[next]?.role === "tool"; next++) results.push(messages[next] as ToolMessage);
  return results;
}

function sendable({ id, name, arguments: input }: ModelToolCall, grammar: RegExp, used: Set<string>): ModelToolCall {
  let sent = grammar.test(id) ? id : hashedId(id);
  for (let copy = 2; used.has(sent); copy++) sent = hashedId(`${id} ${copy}`);
  used.add(sent);
  return { id: sent, name: sendableName(name), arguments: input };
}

const hashedId = (id: string): string => createHash("sha256").update(id).digest("hex").slice(0, 32);

const sendableName = (name: string): string =>
  NAME.test(name) ? name : name.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unnamed";

/** Takes the result out of `results`: of two calls with one id each has its own. */
function resultOf(call: ModelToolCall, sent: ModelToolCall, results: ToolMessage[]): ToolMessage {
  const index = results.findIndex(({ toolCallId }) => toolCallId === call.id);
  const found = index < 0 ? undefined : results.splice(index, 1)[0];
  const address = { role: "tool", toolCallId: sent.id, toolName: sent.name } as const;
  return found === undefined
    ? { ...address, content: "No result of this call was kept.", isError: true }
    : { ...address, content: found.content, ...(found.isError && { isError: true }) };
}
