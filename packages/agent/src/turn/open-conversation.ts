import type { ChatMessage } from "@rockbot/contracts";
import type { ModelMessage } from "@rockbot/llm";
import { answerMessage, Conversation } from "../prompt/conversation.ts";
import { resultText } from "../prompt/result-text.ts";
import type { HistoryTurn } from "../words/session.ts";
import type { OwnStep, OwnSteps } from "./own-steps.ts";

export interface OpenConversationOptions {
  readonly system: string;
  /** What an untrusted definition says, fenced. */
  readonly playbook: string | undefined;
  readonly history: readonly HistoryTurn[];
  readonly message: string | undefined;
  /** The images of the message. */
  readonly images?: readonly string[] | undefined;
  readonly messages: readonly ChatMessage[] | undefined;
  /** What the agent did itself before calls that its client made, by the id of the first of them. */
  readonly ownSteps: ReadonlyMap<string, OwnSteps>;
  /** The nonce of the turn's fences. */
  readonly nonce: string;
  /** What changes from turn to turn, such as hints. It stands after all that a provider's cache can keep. */
  readonly aside: string | undefined;
  /** What strangers wrote of it, fenced: no system text has it. */
  readonly fencedAside: string | undefined;
}

/** The conversation at the beginning of a turn: our rules, what was said before, and what is asked. */
export function openConversation(options: OpenConversationOptions): Conversation {
  const { system, playbook, history, message, images, messages, ownSteps, nonce, aside, fencedAside } = options;
  const rules: ModelMessage = { role: "system", content: system };
  const asideMessages: ModelMessage[] = [
    ...(aside === undefined || aside === "" ? [] : [{ role: "system", content: aside } as const]),
    ...(fencedAside === undefined || fencedAside === "" ? [] : [{ role: "user", content: fencedAside } as const]),
    ...(playbook === undefined ? [] : [{ role: "user", content: playbook } as const]),
  ];
  if (messages === undefined) {
    const earlier = history.map(({ role, content }): ModelMessage => ({ role, content }));
    return new Conversation([rules], earlier, [...asideMessages, { role: "user", content: message ?? "", images }]);
  }
  const given = messages.flatMap((each) => {
    const own = each.role === "assistant" ? ownSteps.get(each.tool_calls?.[0]?.id ?? "") : undefined;
    return own === undefined ? toModelMessage(messages)(each) : own.steps.flatMap((step) => stepMessages(step, nonce));
  });
  const own = given.filter(({ role }) => role === "system");
  const said = given.filter(({ role }) => role !== "system");
  const lastUser = said.findLastIndex(({ role }) => role === "user");
  const asked = lastUser === -1 ? said : said.slice(lastUser);
  return new Conversation([rules, ...own], lastUser === -1 ? [] : said.slice(0, lastUser), [
    ...asideMessages,
    ...asked,
  ]);
}

/**
 * An answer of the agent's model, with the results of the agent's own calls. Results of the client's calls follow in
 * its messages.
 */
function stepMessages({ answer, results }: OwnStep, nonce: string): ModelMessage[] {
  const own = answer.toolCalls.flatMap((call, index): ModelMessage[] => {
    const result = results[index] ?? null;
    if (result === null) return [];
    return [
      {
        role: "tool",
        toolCallId: call.id,
        toolName: call.name,
        content: resultText(call, result, nonce),
        isError: result.isError,
      },
    ];
  });
  return [answerMessage(answer), ...own];
}

const toModelMessage =
  (all: readonly ChatMessage[]) =>
  ({ role, content, images, tool_calls: toolCalls, tool_call_id: toolCallId, name }: ChatMessage): ModelMessage => {
    const text = content ?? "";
    if (role === "assistant")
      return { role, content: text, ...(toolCalls === undefined || toolCalls.length === 0 ? {} : { toolCalls }) };
    if (role === "user") return { role, content: text, images };
    if (role !== "tool") return { role, content: text };
    const called = all.flatMap(({ tool_calls: calls = [] }) => calls).find(({ id }) => id === toolCallId);
    return { role, toolCallId: toolCallId ?? "", toolName: name ?? called?.name ?? "", content: text };
  };
