import { definedBy, type ToolGuide } from "@rockbot/contracts";
import type { ToolRegistration } from "../../define/tool-registry.ts";

/**
 * A guide as somebody reads it who may use these tools. What others say of themselves is a guide of its own for each,
 * so that every text is of one kind. A service of an earlier release does not say that these are others' words.
 */
export function guidesIn(
  { name, summary, document, trust, sections = [] }: ToolGuide,
  tools: readonly Pick<ToolRegistration, "name">[],
): ToolGuide[] {
  const names = tools.map((tool) => tool.name.toLowerCase());
  const shown = sections.filter(({ toolsBeginWith }) =>
    names.some((tool) => tool.startsWith(toolsBeginWith.toLowerCase())),
  );
  const others = shown.map(({ toolsBeginWith, text, trust: ofSection }) => ({
    name: `${name}-${toolsBeginWith.replace(/_+$/, "")}`.slice(0, 64),
    summary: `What those say of themselves whose tools begin with ${toolsBeginWith}.`,
    document: text,
    trust: ofSection ?? definedBy(toolsBeginWith, false),
  }));
  return [{ name, summary, document, ...(trust == null ? {} : { trust }) }, ...others];
}
