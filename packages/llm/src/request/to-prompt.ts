import type { LanguageModelV4Message, LanguageModelV4Prompt, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ModelMessage, ModelToolCall } from "../model.ts";
import { pairToolMessages } from "./pair-tool-messages.ts";
import { readProviderData } from "./provider-data.ts";

export interface PromptOptions {
  readonly protocol: "openai" | "anthropic";
  /** True to return the model's thoughts to it, where no signature asks for them. */
  readonly returnsReasoning: boolean;
}

type UserMessage = Extract<LanguageModelV4Message, { role: "user" }>;
type ImagePart = Extract<UserMessage["content"][number], { type: "file" }>;
type AssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number];

const EMPTY = "(no text)";
/** A conversation begins with a person, says Anthropic. */
const CUT = "(The beginning of this conversation was cut off.)";
/**
 * Where Anthropic is to keep what stands before.
 * @see https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
 */
const BREAKPOINT: SharedV4ProviderOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };

/**
 * Messages in the form of the AI SDK, such that every provider takes them. Some servers want one system message, at the
 * start, and turns that alternate; none takes an empty message or a call without its result.
 */
export function toPrompt(messages: readonly ModelMessage[], options: PromptOptions): LanguageModelV4Prompt {
  const start = messages.findIndex(({ role }) => role !== "system");
  const systems = messages.slice(0, start < 0 ? messages.length : start).map(({ content }) => content);
  const rest = pairToolMessages(messages.slice(systems.length), options.protocol);
  const said = turns(rest, options);
  if (said[0]?.role !== "user") said.unshift({ role: "user", content: [{ type: "text", text: CUT }] });
  const prompt = [...systemMessages(systems, options), ...said];
  return options.protocol === "anthropic" ? withBreakpoints(prompt) : prompt;
}

function systemMessages(texts: readonly string[], { protocol }: PromptOptions): LanguageModelV4Prompt {
  const known = texts.filter((text) => text.trim() !== "");
  if (known.length === 0) return [];
  return (protocol === "openai" ? [known.join("\n\n")] : known).map((content) => ({ role: "system", content }));
}

function turns(messages: readonly ModelMessage[], options: PromptOptions): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = [];
  for (const message of messages) {
    const last = prompt.at(-1);
    if (message.role === "assistant") {
      const content = assistantParts(message, options);
      if (content.length > 0) prompt.push({ role: "assistant", content });
    } else if (message.role === "tool") {
      const part = resultPart(message);
      if (last?.role === "tool") last.content.push(part);
      else prompt.push({ role: "tool", content: [part] });
    } else {
      const text =
        message.role === "system"
          ? `<system>\n${message.content}\n</system>`
          : message.content.trim() === ""
            ? EMPTY
            : message.content;
      const images = message.role === "user" ? (message.images ?? []).map(imagePart) : [];
      if (last?.role === "user") join(last, text, images);
      else prompt.push({ role: "user", content: [{ type: "text", text }, ...images] });
    }
  }
  return prompt;
}

function join(message: UserMessage, text: string, images: readonly ImagePart[]): void {
  const part = message.content[0];
  if (part?.type === "text") part.text += `\n\n${text}`;
  message.content.push(...images);
}

/** @param url a data URL, in base64 */
function imagePart(url: string): ImagePart {
  const comma = url.indexOf(",");
  return {
    type: "file",
    mediaType: url.slice("data:".length, comma).replace(";base64", ""),
    data: { type: "data", data: url.slice(comma + 1) },
  };
}

function assistantParts(
  message: Extract<ModelMessage, { role: "assistant" }>,
  { protocol, returnsReasoning }: PromptOptions,
): AssistantPart[] {
  const { content, toolCalls = [], providerData } = message;
  if (content.trim() === "" && toolCalls.length === 0) return [];
  const { reasoning, calls } = readProviderData(providerData);
  const thought =
    protocol === "anthropic" || returnsReasoning
      ? reasoning.filter(({ options }) => protocol === "openai" || options !== undefined)
      : [];
  return [
    ...thought.map(
      ({ text, options }): AssistantPart => ({
        type: "reasoning",
        text,
        ...(options !== undefined && { providerOptions: options }),
      }),
    ),
    ...(content.trim() === "" ? [] : [{ type: "text" as const, text: content }]),
    ...toolCalls.map((call, index): AssistantPart => {
      const options = calls[index];
      const input = inputOf(call, protocol);
      return {
        type: "tool-call",
        toolCallId: call.id,
        toolName: call.name,
        input,
        ...(options != null && { providerOptions: options }),
      };
    }),
  ];
}

/**
 * A call's arguments: with OpenAI the text as the model wrote it. Providers, and the templates of servers, want an
 * object: what is none goes into one.
 */
function inputOf({ arguments: text }: ModelToolCall, protocol: PromptOptions["protocol"]): unknown {
  const parsed = parseObject(text.trim() === "" ? "{}" : text);
  if (parsed === undefined) return { unreadable_arguments: text };
  // The SDK makes a text of a text that has such keys.
  const isPlain = !/__proto__|constructor|\\u/.test(text);
  return protocol === "openai" && isPlain && text.trim() !== "" ? text : parsed;
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function resultPart({ toolCallId, toolName, content, isError }: Extract<ModelMessage, { role: "tool" }>) {
  const value = content === "" ? EMPTY : content;
  return {
    type: "tool-result" as const,
    toolCallId,
    toolName,
    output: { type: isError ? ("error-text" as const) : ("text" as const), value },
  };
}

/**
 * Three breakpoints, of the four that may be. The one at the first system message keeps it and the tools, for all turns
 * and sessions. The one at the end keeps the conversation so far for the next request, which finds it by its own at the
 * same place: Anthropic looks back 20 blocks only, and an answer with its results may have more. What changes from turn
 * to turn stands in a second system message or in the last one.
 */
function withBreakpoints(prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const first = prompt[0]?.role === "system" ? 0 : -1;
  const before = prompt.findLastIndex(({ role }) => role === "assistant") - 1;
  const last = prompt.length - 1;
  return prompt.map((message, index) =>
    index === first || index === before || index === last ? { ...message, providerOptions: BREAKPOINT } : message,
  );
}
