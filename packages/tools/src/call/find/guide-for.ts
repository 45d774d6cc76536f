import type { ToolGuide } from "@rockbot/contracts";
import type { ToolRegistration } from "../../define/tool-registry.ts";

/** A guide as somebody reads it who may use these tools, without what is not for them. */
export function guideFor({ name, summary, document, sections = [] }: ToolGuide, tools: readonly Pick<ToolRegistration, "name">[]): ToolGuide {
  const names = tools.map((tool) => tool.name.toLowerCase());
  const shown = sections.filter(({ toolsBeginWith }) => names.some((tool) => tool.startsWith(toolsBeginWith.toLowerCase())));
  return { name, summary, document: document + shown.map(({ text }) => text).join("") };
}
