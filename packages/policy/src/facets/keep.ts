import { findGlob } from "../tool-glob.ts";
import { defineFacet, HOUR_MS } from "./facet.ts";

/** How long what a call was given and what it gave are kept, and how much of each. */
export interface KeepRule {
  readonly forMs: number;
  readonly bytes: number;
}

export const keep = defineFacet({
  place: "file",
  readBy: "decisions",
  schema: {
    type: "object",
    additionalProperties: false,
    required: ["tools"],
    description:
      'Calls whose arguments and results their callers keep for operators, in their journals. Operators see them whose `sees` says so. Nothing is kept when left out; "rockbot up" without a policy file and without Redis keeps all for an hour, in memory.',
    properties: {
      tools: { $ref: "#/definitions/PolicyToolGlobs" },
      hours: { type: "number", minimum: 0.01, maximum: 24, default: 1, description: "How long they are kept." },
      bytes: {
        type: "integer",
        minimum: 1,
        maximum: 262_144,
        default: 16_384,
        description: "As much as this is kept of the arguments, and as much of the result. The rest is cut off.",
      },
    },
  },
  docs: [
    {
      holds:
        "tools whose arguments and results are kept for operators, how long, and how much of each. Secrets that the process knows, and what looks like one, are taken out before. Only operators with `sees` see them; all others see a hash and the size",
      beyond: "cut off, or forgotten: first of the caller that has most",
    },
  ],
  example: { tools: ["web_*"], hours: 4, bytes: 4096 },
  read: ({ document: { keep: said } }) => ({
    /** What is kept of calls of this tool; undefined for nothing. */
    keptOf(tool: string): KeepRule | undefined {
      if (said === undefined || findGlob(said.tools, tool) === undefined) return undefined;
      return { forMs: said.hours * HOUR_MS, bytes: said.bytes };
    },
  }),
  explain({ keptOf }, { tool }, at) {
    const kept = keptOf(tool);
    if (kept === undefined) return [];
    return [
      `arguments and results are kept for ${kept.forMs / HOUR_MS} h, ${kept.bytes} bytes of each: ${at(["keep"])}`,
    ];
  },
});
