import { findGlob } from "../tool-glob.ts";
import { defineFacet } from "./facet.ts";

export const fast = defineFacet({
  place: "file",
  readBy: "decisions",
  schema: {
    type: "object",
    additionalProperties: false,
    description:
      "Which read-only tools take calls by the fast lane, besides those whose definitions say so. `except` takes some away, whatever `tools` and their definitions say.",
    properties: {
      tools: { $ref: "#/definitions/PolicyToolGlobs" },
      except: { $ref: "#/definitions/PolicyToolGlobs" },
    },
  },
  docs: [
    {
      holds:
        "read-only tools whose calls may be asked in the memory of RabbitMQ alone: `tools` adds some, `except` takes some away",
      beyond: "asked by the durable way",
    },
  ],
  example: { tools: ["list_files"], except: ["web_*"] },
  read: ({ document: { fast: said } }) => ({
    /** True if an operator has calls of this tool come by the fast lane, false if one forbids it. */
    isFast(tool: string): boolean | undefined {
      if (findGlob(said?.except ?? [], tool) !== undefined) return false;
      return findGlob(said?.tools ?? [], tool) === undefined ? undefined : true;
    },
  }),
  explain({ isFast }, { tool }, at) {
    const said = isFast(tool);
    if (said === undefined) return [];
    return [`its calls ${said ? "may" : "may not"} take the fast lane: ${at(["fast"])}`];
  },
});
