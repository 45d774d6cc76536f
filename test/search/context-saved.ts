import { tools } from "@rockbot/contracts";
import type { ServiceEntry } from "@rockbot/search";
import { estimateTokenCount } from "tokenx";

/** The tokens of the definitions that a model is given. */
export interface ContextSize {
  readonly tools: number;
  /** With each tool's definition. */
  readonly native: number;
  /** With the fixed definitions of the tools mode. */
  readonly fixed: number;
}

const FIXED = [tools.searchKnownServices, tools.getToolDetails, tools.invokeTool, tools.listToolGuides, tools.getToolGuide];

/** The size of so many definitions, as a model's API takes them, beside that of the tools mode. */
export function contextSizes(services: readonly ServiceEntry[], counts: readonly number[]): readonly ContextSize[] {
  const all = services.flatMap(({ id, tools: own }) =>
    own.map(({ name, description, parameters = "" }) => ({
      name: `${id}__${name}`,
      description,
      parameters: {
        type: "object",
        properties: Object.fromEntries(parameters.split(" ").map((parameter) => [parameter, { type: "string", description: `The ${parameter} of it.` }])),
      },
    })),
  );
  const fixed = tokensOf(FIXED.map(({ name, description, inputSchema }) => ({ name, description, parameters: inputSchema })));
  return counts.map((count) => ({ tools: count, native: tokensOf(all.slice(0, count)), fixed }));
}

const tokensOf = (definitions: readonly object[]): number => estimateTokenCount(JSON.stringify(definitions));
