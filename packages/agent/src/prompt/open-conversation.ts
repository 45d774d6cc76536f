import type { ChatMessage } from "@rockbot/contracts";
import type { ModelMessage } from "@rockbot/llm";
import type { HistoryTurn } from "../turn/turn.ts";
import { Conversation } from "./conversation.ts";

export interface OpenConversationOptions {
  readonly system: string;
  readonly history: readonly HistoryTurn[];
  readonly message: string | undefined;
  readonly messages: readonly ChatMessage[] | undefined;
  /** What changes from turn to turn, such as hints. It stands after all that a provider's cache can keep. */
  readonly aside: string | undefined;
}

/** The conversation at the beginning of a turn: our rules, what was said before, and what is asked. */
export function openConversation({ system, history, message, messages, aside }: OpenConversationOptions): Conversation {
  const rules: ModelMessage = { role: "system", content: system };
  const asideMessages: ModelMessage[] = aside === undefined || aside === "" ? [] : [{ role: "system", content: aside }];
  if (messages === undefined) {
    const earlier = history.map(({ role, content }): ModelMessage => ({ role, content }));
    return new Conversation([rules], earlier, [...asideMessages, { role: "user", content: message ?? "" }]);
  }
  const given = messages.map(toModelMessage(messages));
  const own = given.filter(({ role }) => role === "system");
  const said = given.filter(({ role }) => role !== "system");
  const lastUser = said.findLastIndex(({ role }) => role === "user");
  const asked = lastUser === -1 ? said : said.slice(lastUser);
  return new Conversation([rules, ...own], lastUser === -1 ? [] : said.slice(0, lastUser), [...asideMessages, ...asked]);
}

const toModelMessage =
  (all: readonly ChatMessage[]) =>
  ({ role, content, tool_calls: toolCalls, tool_call_id: toolCallId, name }: ChatMessage): ModelMessage => {
    const text = content ?? "";
    if (role === "assistant") return { role, content: text, ...(toolCalls === undefined || toolCalls.length === 0 ? {} : { toolCalls }) };
    if (role !== "tool") return { role, content: text };
    const called = all.flatMap(({ tool_calls: calls = [] }) => calls).find(({ id }) => id === toolCallId);
    return { role, toolCallId: toolCallId ?? "", toolName: name ?? called?.name ?? "", content: text };
  };
