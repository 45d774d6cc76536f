import { isRecord } from "@rockbot/base";
import { nearestFileName, shownFile } from "@rockbot/records/files";
import type { ToolCallContext } from "@rockbot/tools";

type Structured = Readonly<Record<string, unknown>>;

/** So many blocks of one result are kept as files. */
const MOST_KEPT = 8;
/** They were not asked for, and take room of the caller: so they are kept for less long than other files. */
const KEPT_MS = 3_600_000;

/**
 * Keeps images, audio and binary resources of a result as untrusted files of the caller: `$files` has their handles.
 * The blocks stay as they are. One that finds no room, or is no base64, gets no handle.
 */
export async function keepBlocks(
  given: Structured | undefined,
  { files, log }: Pick<ToolCallContext, "files" | "log">,
) {
  if (given === undefined) return undefined;
  const { $files: _, ...structured } = given; // no server names files of a caller
  const blocks = structured["$content"];
  if (files === undefined || !Array.isArray(blocks)) return structured;
  const kept: ReturnType<typeof shownFile>[] = [];
  for (const block of blocks.flatMap(bytesOf).slice(0, MOST_KEPT)) {
    const { name, type, data } = block;
    const bytes = Buffer.from(data, "base64");
    if (bytes.length === 0) continue;
    const file = { name: nearestFileName(name, `file-${kept.length + 1}`), type, isUntrusted: true, ttlMs: KEPT_MS };
    const left = await files.leave({ ...file, bytes: [bytes] }).catch((error: unknown) => {
      log.warn({ error: String(error) }, "could not keep a block of an MCP server as a file");
      return undefined;
    });
    if (left === undefined) break;
    kept.push(shownFile(left));
  }
  return kept.length === 0 ? structured : { ...structured, $files: kept };
}

interface Bytes {
  readonly name: string;
  readonly type: string | undefined;
  /** The bytes as base64. */
  readonly data: string;
}

function bytesOf(block: unknown, index: number): Bytes[] {
  if (!isRecord(block)) return [];
  const { type: kind, data, mimeType, resource } = block;
  if ((kind === "image" || kind === "audio") && typeof data === "string") {
    const type = typeof mimeType === "string" ? mimeType : undefined;
    const ending = /^\w+\/([a-z0-9]{1,8})$/.exec(type ?? "")?.[1];
    return [{ name: `${kind}-${index + 1}${ending === undefined ? "" : `.${ending}`}`, type, data }];
  }
  if (kind !== "resource" || !isRecord(resource) || typeof resource["blob"] !== "string") return [];
  const { uri, mimeType: declared, blob } = resource;
  const name = String(uri)
    .replace(/[?#].*$/s, "")
    .replace(/^.*\//s, "");
  return [{ name, type: typeof declared === "string" ? declared : undefined, data: blob }];
}
