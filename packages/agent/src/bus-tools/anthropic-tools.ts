import type { ModelTool } from "@rockbot/llm";

/** A tool of Anthropic's messages. */
export interface AnthropicTool {
  name: string;
  description: string;
  input_schema: { type: "object"; [key: string]: unknown };
}

/** A block of an answer of Anthropic's that calls a tool. */
export interface AnthropicToolUse {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/** The result of such a call: a block of the next message. */
export interface AnthropicToolResult {
  type: "tool_result";
  tool_use_id: string;
  content: string;
  is_error: boolean;
}

export const anthropicTool = ({ name, description, parameters }: ModelTool): AnthropicTool => ({
  name,
  description,
  input_schema: { ...parameters, type: "object" },
});
