import type { ModelTool } from "@rockbot/llm";

/** A tool of OpenAI's chat completions. */
export interface OpenAiTool {
  type: "function";
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

/** A call in an answer of OpenAI's chat completions. */
export interface OpenAiToolCall {
  readonly id: string;
  readonly type: string;
  readonly function?: { readonly name: string; readonly arguments: string };
}

/** The result of such a call, for the next request. */
export interface OpenAiToolMessage {
  role: "tool";
  tool_call_id: string;
  content: string;
}

export const openAiTool = ({ name, description, parameters }: ModelTool): OpenAiTool => ({
  type: "function",
  function: { name, description, parameters: parameters as Record<string, unknown> },
});
