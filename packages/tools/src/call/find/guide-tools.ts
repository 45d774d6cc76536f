import { type ToolGuide, tools } from "@rockbot/contracts";
import { defineTool, type Tool } from "../../define/define-tool.ts";

/** `list_tool_guides` and `get_tool_guide`, over the guides that `getGuides` gives a caller, sorted by name. */
export function guideTools(getGuides: (caller: string) => Promise<readonly ToolGuide[]>): Tool[] {
  return [
    defineTool(tools.listToolGuides, async (_input, { caller }) => {
      const guides = (await getGuides(caller)).map(({ name, summary }) => ({ name, summary }));
      const lines = guides.map(({ name, summary }) => `- ${name}: ${summary}`);
      const content =
        guides.length === 0
          ? "There are no tool guides now: no service announces one."
          : [`${guides.length} tool guide(s). Read one with get_tool_guide(name).`, ...lines].join("\n");
      return { content, structured: { guides } };
    }),
    defineTool(tools.getToolGuide, async ({ name }, { caller }) => {
      const guides = await getGuides(caller);
      const guide = guides.find((known) => known.name.toLowerCase() === name.toLowerCase());
      if (guide !== undefined)
        return {
          content: guide.document,
          structured: { name: guide.name, document: guide.document },
          trust: guide.trust,
        };
      const names = guides.map((known) => known.name);
      return {
        content: `There is no tool guide "${name}". Available: ${names.length === 0 ? "none" : names.join(", ")}.`,
        isError: true,
      };
    }),
  ];
}
