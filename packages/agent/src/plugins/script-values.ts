import { isRecord } from "@rockbot/base";
import { tools } from "@rockbot/contracts";
import type { ToolLayer } from "@rockbot/tools";
import type { AgentPlugin } from "./agent-plugin.ts";

/** More of a value is in the result, where programs find it. */
const MAX_SHOWN = 2_000;

/** Shows the model the value of a script's last expression, and what of it, its charts and its files is not there. */
export const scriptValues = (): AgentPlugin => ({
  name: "values of scripts",
  async start() {
    return { fit: () => valueNotes };
  },
});

/** The text of a script's result is what it printed, and stays so for everybody but a model. */
export const valueNotes: ToolLayer = (next) => ({
  async execute(request, context) {
    const response = await next.execute(request, context);
    if (request.toolName !== tools.executePythonScript.name) return response;
    const { value, shown_notes, file_notes } = response.structured ?? {}; // of any form, as another service may have the tool
    const lines = [
      ...(isRecord(value) ? [`[Value of the last line, ${value["type"]}: ${shown(value)}]`] : []),
      ...[shown_notes, file_notes].flatMap((notes) => (Array.isArray(notes) ? notes.map((note) => `[${note}]`) : [])),
    ];
    if (lines.length === 0) return response;
    const content = response.content ?? "";
    return {
      ...response,
      content: `${content}${content === "" || content.endsWith("\n") ? "" : "\n"}${lines.join("\n")}`,
    };
  },
});

function shown({ text, is_cut: isCut }: Readonly<Record<string, unknown>>): string {
  const words = String(text);
  return words.length > MAX_SHOWN || isCut === true ? `${words.slice(0, MAX_SHOWN)} …` : words;
}
