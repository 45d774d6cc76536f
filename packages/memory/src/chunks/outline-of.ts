import type { Chunk } from "./chunk-content.ts";

/**
 * The outline of a chunked text: a bullet with heading and key for each chunk, indented by the level of its heading. A chunk without heading is
 * `Part n`. Nothing for no chunks.
 */
export function outlineOf(chunks: readonly Pick<Chunk, "heading" | "level">[], keyOf: (index: number) => string): string {
  if (chunks.length === 0) return "";
  const lines = chunks.map(({ heading, level }, index) => `${"  ".repeat(Math.max(0, level - 1))}- **${partName(heading, index)}** → \`${keyOf(index)}\``);
  return ["## Document Outline", "", ...lines].join("\n");
}

/** How a chunk is called. */
export const partName = (heading: string, index: number): string => (heading === "" ? `Part ${index}` : heading);
