import type { Chunk } from "./chunk-content.ts";
import type { Section } from "./piece.ts";

/** More headings of one chunk are only counted. */
const MAX_OF_CHUNK = 100;

/**
 * The outline of a chunked text: a bullet with heading and key for each section of each chunk, indented by the level of
 * its heading. A chunk without heading is `Part n`. Nothing for no chunks.
 */
export function outlineOf(
  chunks: readonly Pick<Chunk, "heading" | "level" | "sections">[],
  keyOf: (index: number) => string,
): string {
  if (chunks.length === 0) return "";
  const lines = chunks.flatMap((chunk, index) => {
    const line = ({ heading, level }: Section): string =>
      `${"  ".repeat(Math.max(0, level - 1))}- **${partName(heading, index)}** → \`${keyOf(index)}\``;
    const more = chunk.sections.length - MAX_OF_CHUNK;
    const shown = chunk.sections.length === 0 ? [chunk] : chunk.sections.slice(0, MAX_OF_CHUNK);
    return [...shown.map(line), ...(more > 0 ? [`- … and ${more} more headings → \`${keyOf(index)}\``] : [])];
  });
  return ["## Document Outline", "", ...lines].join("\n");
}

/** How a chunk is called. */
export const partName = (heading: string, index: number): string => (heading === "" ? `Part ${index}` : heading);
