import { tools } from "@rockbot/contracts";
import { estimateTokenCount } from "tokenx";
import type { Definition } from "./real-tools.ts";

/** The tokens of the definitions that a model is given with each request. */
export interface ContextSize {
  readonly tools: number;
  /** The tokens with the definition of each tool. */
  readonly all: number;
  /** The tokens in tools mode. */
  readonly few: number;
}

/** The tools that stand for all others. */
export const STANDING = [tools.searchKnownServices, tools.getToolDetails, tools.invokeTool];
/** The other tools that an agent gives its model in any case: guides, and the working memory. */
export const OTHERS = [
  tools.listToolGuides,
  tools.getToolGuide,
  tools.getFromWorkingMemory,
  tools.saveToWorkingMemory,
  tools.listWorkingMemory,
  tools.searchWorkingMemory,
  tools.deleteFromWorkingMemory,
];

/** The size of so many of the definitions, again and again under other names, beside that of the tools mode. */
export function contextSizes(real: readonly Definition[], counts: readonly number[]): readonly ContextSize[] {
  const others = OTHERS.map(definitionOf);
  const few = tokensOf([...STANDING.map(definitionOf), ...others]);
  return counts.map((count) => {
    const many = Array.from({ length: count }, (_, i) => {
      const { name, ...rest } = real[i % real.length] as Definition;
      return { name: i < real.length ? name : `${name}_${Math.floor(i / real.length)}`, ...rest };
    });
    return { tools: count, all: tokensOf([...many, ...others]), few };
  });
}

/** The tokens that tokenx estimates. */
export const tokensOf = (definitions: readonly object[]): number => estimateTokenCount(JSON.stringify(definitions));

interface Named {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: object;
}

const definitionOf = ({ name, description, inputSchema }: Named): Definition => ({
  name,
  description,
  parameters: inputSchema,
});
