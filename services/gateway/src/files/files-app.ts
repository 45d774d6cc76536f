import type { IncomingMessage } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { type FileInfo, type FileStore, MAX_FILE_BYTES, noSuchFile, shownFile } from "@rockbot/records/files";
import type { Context } from "hono";
import type { GatewayEnv } from "../door/guard.ts";
import { HttpErrorCode } from "../http/http-error.ts";
import { chunksOf, cutOff } from "../http/read-body.ts";
import { sendStream } from "../http/send-stream.ts";
import { rangeOf } from "./byte-range.ts";

export const FILES_PATH = "/v1/files";
export const FILE_PATH = `${FILES_PATH}/:handle`;

export interface FileDoorsOptions {
  /** The gateway's own agent, whose files are those of requests without a caller. */
  readonly self: string;
  /** Headers of every answer. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long a client may leave what it was sent unread. */
  readonly stallMs: number;
}

/** The handlers of `/v1/files`. Each reaches the files of the request's caller, and no others. */
export interface FileDoors {
  put(c: Context<GatewayEnv>): Promise<Response>;
  list(c: Context<GatewayEnv>): Promise<Response>;
  read(c: Context<GatewayEnv>): Promise<Response>;
  remove(c: Context<GatewayEnv>): Promise<Response>;
}

/** True for the request whose body goes into the store as it comes, and is not read before. */
export const isUpload = (method: string, path: string): boolean => method === "PUT" && path === FILES_PATH;

/**
 * Takes and gives the files of callers. What it gives is for saving: no browser shows it as a page of the gateway,
 * whatever is in it.
 */
export function fileDoors(files: FileStore, { self, headers, stallMs }: FileDoorsOptions): FileDoors {
  const ownerOf = (c: Context<GatewayEnv>): string => c.get("caller") ?? self;
  const found = async (c: Context<GatewayEnv>) => {
    const handle = c.req.param("handle") ?? "";
    const file = await files.find(ownerOf(c), handle);
    if (file !== undefined) return file;
    const { message, details } = noSuchFile(handle);
    throw new ToolError(HttpErrorCode.NotFound, message, { details });
  };
  return {
    async put(c) {
      const { incoming } = c.env;
      if (Number(incoming.headers["content-length"]) > MAX_FILE_BYTES)
        throw new ToolError(ToolErrorCode.TooLarge, `Cannot keep the file: it has more than ${MAX_FILE_BYTES} bytes`);
      if ((incoming.headers["content-encoding"] ?? "identity") !== "identity")
        throw new ToolError(
          HttpErrorCode.UnsupportedMediaType,
          "Cannot keep the file: send it without a content encoding",
        );
      const unknown = Object.keys(c.req.query()).filter((name) => name !== "name");
      if (unknown.length > 0)
        throw new ToolError(
          ToolErrorCode.InvalidArguments,
          `Cannot keep the file: the query takes only "name", not ${unknown.map((name) => JSON.stringify(name.slice(0, 80))).join(", ")}`,
        );
      const visit = c.get("visit");
      const file = {
        name: c.req.query("name") ?? "",
        type: incoming.headers["content-type"],
        isUntrusted: readMark(c.req.header("rockbot-untrusted")),
        bytes: bodyOf(incoming),
      };
      const kept = files.put(ownerOf(c), file);
      try {
        const info = await visit.receive(() => kept);
        visit.run();
        return c.json(shown(info), 201);
      } catch (error) {
        kept.then(({ handle }) => files.delete(ownerOf(c), handle)).catch(() => {}); // else it expires
        throw error;
      }
    },
    list: async (c) => c.json({ files: (await files.list(ownerOf(c))).map(shown) }),
    async read(c) {
      const file = await found(c);
      const { handle, key } = file;
      const { facts, read } = await files.open({ owner: ownerOf(c), handle, key });
      // Files have no validators, so no condition of If-Range can hold.
      const isWhole = c.req.method === "HEAD" || c.req.header("if-range") !== undefined;
      const asked = isWhole ? undefined : c.req.header("range");
      c.header("content-range", `bytes */${facts.size}`); // of a refusal: what is sent has headers of its own
      const range = rangeOf(asked, facts.size);
      const answer: Record<string, string> = {
        ...headers,
        "content-type": facts.type,
        "content-length": String(range.end - range.start),
        "content-disposition": `attachment; filename*=UTF-8''${quoted(facts.name)}`,
        "content-security-policy": "sandbox; default-src 'none'",
        "cross-origin-resource-policy": "same-origin",
        "accept-ranges": "bytes",
        "rockbot-untrusted": String(facts.isUntrusted),
        ...(range.isPart ? { "content-range": `bytes ${range.start}-${range.end - 1}/${facts.size}` } : {}),
      };
      const visit = c.get("visit");
      const body = c.req.method === "HEAD" ? null : ReadableStream.from(read(range.start, range.end));
      await sendStream(c.env.outgoing, new Response(body, { status: range.isPart ? 206 : 200 }), {
        headers: answer,
        stallMs,
        onStall: () => visit.awaitReader(),
      });
      return RESPONSE_ALREADY_SENT;
    },
    async remove(c) {
      const { handle } = await found(c);
      await files.delete(ownerOf(c), handle);
      return c.body(null, 204);
    },
  };
}

/** @throws {ToolError} once the client is gone */
async function* bodyOf(incoming: IncomingMessage): AsyncIterable<Buffer> {
  try {
    yield* chunksOf(incoming);
  } catch (error) {
    throw cutOff(error);
  }
}

const shown = (file: FileInfo) => ({ ...shownFile(file), expiresAt: new Date(file.expiresAt).toISOString() });

/** As RFC 8187 has it. */
const quoted = (name: string): string =>
  encodeURIComponent(name).replace(/['()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);

/** @throws {ToolError} */
function readMark(header: string | undefined): boolean {
  if (header === undefined || header === "false") return false;
  if (header === "true") return true;
  throw new ToolError(
    ToolErrorCode.InvalidArguments,
    "Cannot keep the file: rockbot-untrusted: expected true or false",
  );
}
