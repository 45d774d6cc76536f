import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import { isRecord } from "@rockbot/base";
import { encodeData } from "@rockbot/contracts";
import { VALUE } from "../../schema/bus-output.ts";
import { cleanText } from "../../text/clean-text.ts";
import { originalBlock, structuredOf, WHOLE_STRUCTURED } from "../incoming/readable-result.ts";

/** The result of a tool, in the form that crosses the bus. */
export interface McpCallResult {
  /** All text, block by block, with a line for each block that is none; null if there is nothing. */
  readonly content: string | null;
  /**
   * The tool's structured content. Beside it stands `$content`, the blocks that are no text, in their order. So do
   * `$annotations`, the server's annotations of blocks of text, and `$meta`, the `_meta` of the result.
   */
  readonly structured?: Readonly<Record<string, unknown>> | undefined;
  /** The tool ran and reports a failure of its own. */
  readonly isError: boolean;
}

/** The annotations of a server on a block of text. */
export interface TextNote {
  /** Which of all blocks it is, from 0 on. */
  readonly block: number;
  readonly annotations?: unknown;
  readonly _meta?: unknown;
}

/** As long as addresses are. */
const MAX_LABEL = 2_000;
/** Says on each answer who gave it, which is known. */
const PROTOCOL_META = "io.modelcontextprotocol/";

export function callResult(result: CallToolResult): McpCallResult {
  const { content, isError = false, _meta } = result;
  const structuredContent = structuredOf(result);
  const blocks = content.map((block) => ({ block, original: originalBlock(block) }));
  const others = blocks.map(({ original }) => original).filter((original) => !isText(original));
  const lines = blocks.map(({ block, original }) => {
    if (isText(original)) return original.text;
    const index = others.indexOf(original);
    return original === block ? describeBlock(block, index) : describeUnknownBlock(original, index);
  });
  const notes = blocks.flatMap(({ original }, index) => (isText(original) ? textNote(original, index) : []));
  const meta = Object.fromEntries(
    Object.entries(_meta ?? {}).filter(([key]) => !key.startsWith(PROTOCOL_META) && key !== WHOLE_STRUCTURED),
  );
  const structured = {
    ...(structuredContent === undefined
      ? {}
      : isRecord(structuredContent)
        ? structuredContent
        : { [VALUE]: structuredContent }),
    ...(others.length === 0 ? {} : { $content: others }),
    ...(notes.length === 0 ? {} : { $annotations: notes }),
    ...(Object.keys(meta).length === 0 ? {} : { $meta: meta }),
  };
  return {
    content:
      lines.length === 0 ? (structuredContent === undefined ? null : encodeData(structuredContent)) : lines.join("\n"),
    ...(structuredContent === undefined && Object.keys(structured).length === 0 ? {} : { structured }),
    isError,
  };
}

/** The facts that a reader of the text needs of a block that is no text, and its place. */
export function describeBlock(block: ContentBlock, index: number): string {
  const where = placeOf(index);
  switch (block.type) {
    case "image":
    case "audio":
      return `[${block.type} ${label(block.mimeType)}, ${bytesOf(block.data)} bytes: ${where}]`;
    case "resource_link":
      return `[link to the resource ${label(block.uri)}${block.name === "" ? "" : `, "${label(block.name)}"`}: ${where}]`;
    case "resource": {
      const { resource } = block;
      const name = label(resource.uri) + (resource.mimeType === undefined ? "" : `, ${label(resource.mimeType)}`);
      return "text" in resource
        ? `[resource ${name}: ${where}]\n${resource.text}`
        : `[resource ${name}, ${bytesOf(resource.blob)} bytes: ${where}]`;
    }
    default:
      return describeUnknownBlock(block, index);
  }
}

/** The same of a block that the protocol does not know, or does not know so. */
export function describeUnknownBlock(block: unknown, index: number): string {
  const { type, text } = (isRecord(block) ? block : {}) as { readonly type?: unknown; readonly text?: unknown };
  const line = `[content of the type ${cleanText(String(type), 80)}: ${placeOf(index)}]`;
  return typeof text === "string" ? `${line}\n${text}` : line;
}

/** A server's word for a block, as it may stand in a line of ours: the whole is in the block. */
const label = (text: string): string => cleanText(text, MAX_LABEL).replaceAll(/\s+/g, " ");

const placeOf = (index: number): string => `structured.$content[${index}]`;

const isText = (block: unknown): block is Extract<ContentBlock, { type: "text" }> =>
  isRecord(block) && block["type"] === "text" && typeof block["text"] === "string";

function textNote({ annotations, _meta }: Extract<ContentBlock, { type: "text" }>, block: number): TextNote[] {
  const note = { ...(annotations == null ? {} : { annotations }), ...(_meta == null ? {} : { _meta }) };
  return Object.keys(note).length === 0 ? [] : [{ block, ...note }];
}

const bytesOf = (base64: string): number => Math.floor((base64.replace(/=+$/, "").length * 3) / 4);
