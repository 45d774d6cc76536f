import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";

/** What a tool gave, in the form that crosses the bus. */
export interface McpCallResult {
  /** All text, block by block, with a line for each block that is none; null if there is nothing. */
  readonly content: string | null;
  /** The tool's structured content; blocks that are no text stand in it under `$content`, in their order. */
  readonly structured?: Readonly<Record<string, unknown>> | undefined;
  /** The tool ran and reports a failure of its own. */
  readonly isError: boolean;
}

export function callResult({ content, structuredContent, isError = false }: CallToolResult): McpCallResult {
  const others = content.filter(({ type }) => type !== "text");
  const lines = content.map((block) => (block.type === "text" ? block.text : describeBlock(block, others.indexOf(block))));
  const structured = {
    ...(structuredContent === undefined ? {} : isRecord(structuredContent) ? structuredContent : { $value: structuredContent }),
    ...(others.length === 0 ? {} : { $content: others }),
  };
  return {
    content: lines.length === 0 ? (structuredContent === undefined ? null : JSON.stringify(structuredContent)) : lines.join("\n"),
    ...(structuredContent === undefined && others.length === 0 ? {} : { structured }),
    isError,
  };
}

/** What a reader of the text should know of a block that is no text, and where it is. */
export function describeBlock(block: ContentBlock, index: number): string {
  const where = `structured.$content[${index}]`;
  switch (block.type) {
    case "image":
    case "audio":
      return `[${block.type} ${block.mimeType}, ${bytesOf(block.data)} bytes: ${where}]`;
    case "resource_link":
      return `[link to the resource ${block.uri}${block.name === "" ? "" : `, "${block.name}"`}: ${where}]`;
    case "resource": {
      const { resource } = block;
      const kind = resource.mimeType === undefined ? "" : `, ${resource.mimeType}`;
      return "text" in resource
        ? `[resource ${resource.uri}${kind}: ${where}]\n${resource.text}`
        : `[resource ${resource.uri}${kind}, ${bytesOf(resource.blob)} bytes: ${where}]`;
    }
    default:
      return `[content of the type ${String((block as { type: unknown }).type).slice(0, 80)}: ${where}]`;
  }
}

const bytesOf = (base64: string): number => Math.floor((base64.replace(/=+$/, "").length * 3) / 4);

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);
