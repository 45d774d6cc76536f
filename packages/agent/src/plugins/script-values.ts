import { type ToolExecutePythonScriptOutput, tools } from "@rockbot/contracts";
import type { ToolLayer } from "@rockbot/tools";
import type { AgentPlugin } from "./agent-plugin.ts";

/** More of a value is in the result, where programs find it. */
const MAX_SHOWN = 2_000;

/** Shows the model the value of a script's last expression, and what of it and its charts is not there. */
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
    if (request.toolName !== tools.executePythonScript.name || response.structured === undefined) return response;
    const { value, shown_notes: notes = [] } = response.structured as Partial<ToolExecutePythonScriptOutput>;
    const lines = [
      ...(value === undefined ? [] : [`[Value of the last line, ${value.type}: ${shown(value)}]`]),
      ...notes.map((note) => `[${note}]`),
    ];
    if (lines.length === 0) return response;
    const content = response.content ?? "";
    return {
      ...response,
      content: `${content}${content === "" || content.endsWith("\n") ? "" : "\n"}${lines.join("\n")}`,
    };
  },
});

const shown = ({ text, is_cut: isCut }: NonNullable<ToolExecutePythonScriptOutput["value"]>): string =>
  text.length > MAX_SHOWN || isCut ? `${text.slice(0, MAX_SHOWN)} …` : text;
