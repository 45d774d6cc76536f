import type { ModelMessage, ModelTool, ModelToolCall } from "@rockbot/llm";

/**
 * A conversation for a model that gets no tools by its protocol: they stand in the system text, and its calls and their
 * results in the messages.
 */
export function textForm(messages: readonly ModelMessage[], tools: readonly ModelTool[]): readonly ModelMessage[] {
  const [first, ...rest] = messages.map(plain);
  if (tools.length === 0) return first === undefined ? [] : [first, ...rest];
  if (first?.role !== "system")
    return [{ role: "system", content: toolsText(tools) }, ...(first === undefined ? [] : [first]), ...rest];
  return [{ role: "system", content: `${first.content}\n\n${toolsText(tools)}` }, ...rest];
}

function plain(message: ModelMessage): ModelMessage {
  if (message.role === "tool")
    return {
      role: "user",
      content: `Result of ${message.toolName}${message.isError ? " (it failed)" : ""}:\n${message.content}`,
    };
  if (message.role !== "assistant" || message.toolCalls === undefined || message.toolCalls.length === 0) return message;
  const { content, toolCalls } = message;
  return { role: "assistant", content: [content, ...toolCalls.map(callText)].filter((text) => text !== "").join("\n") };
}

const callText = ({ name, arguments: args }: ModelToolCall): string =>
  `tool_call_name: ${name}\ntool_call_arguments: ${args}`;

function toolsText(tools: readonly ModelTool[]): string {
  const list = tools.map(
    ({ name, description, parameters }) =>
      `- ${name}: ${description}\n  Arguments, as JSON Schema: ${JSON.stringify(parameters)}`,
  );
  return `To call a tool, write these two lines, and nothing after them. For several calls write them several times.
tool_call_name: NAME
tool_call_arguments: {"argument": "value"}

You get the results in the next message. Do not write results yourself. The tools are:
${list.join("\n")}`;
}
