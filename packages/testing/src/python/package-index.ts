import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Wheel } from "./wheel.ts";

/** What an index does instead of answering. */
export type PackageIndexFault =
  | "silent"
  | "error"
  | { /** The address in the links to its files, in place of its own. */ readonly filesAt: string };

export interface PackageIndexFile {
  readonly fileName: string;
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** A package index with simple pages, in HTML and in JSON, without TLS. */
export interface PackageIndex extends AsyncDisposable {
  /** The address of the simple pages. */
  readonly url: string;
  /** The paths that were asked for, in order. */
  readonly requests: readonly string[];
  fault: PackageIndexFault | undefined;
  /** Serves one more file from now on. */
  add(file: Wheel | PackageIndexFile): void;
}

/** @see PEP 503 and PEP 691 */
export async function startPackageIndex(files: readonly (Wheel | PackageIndexFile)[]): Promise<PackageIndex> {
  const offered = [...files];
  const requests: string[] = [];
  const server = createServer((incoming, outgoing) => {
    requests.push(incoming.url ?? "");
    if (index.fault === "silent") return;
    if (index.fault === "error") return void outgoing.writeHead(503).end();
    answer(incoming, outgoing);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function answer(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const [, folder, name = ""] = /^\/(simple|files)\/([^/]+)\/?$/.exec(decodeURIComponent(incoming.url ?? "")) ?? [];
    if (folder === "files")
      return void send(outgoing, "application/octet-stream", offered.find(({ fileName }) => fileName === name)?.bytes);
    const found =
      folder === "simple" ? offered.filter((file) => file.name.replace(/[-_.]+/g, "-").toLowerCase() === name) : [];
    if (found.length === 0) return void outgoing.writeHead(404).end();
    const filesAt = typeof index.fault === "object" ? index.fault.filesAt : origin;
    const links = found.map(({ fileName, bytes }) => ({
      filename: fileName,
      url: `${filesAt}/files/${encodeURIComponent(fileName)}`,
      hashes: { sha256: createHash("sha256").update(bytes).digest("hex") },
    }));
    if (!incoming.headers.accept?.includes("json")) {
      const page = links
        .map(({ filename, url, hashes }) => `<a href="${url}#sha256=${hashes.sha256}">${filename}</a>\n`)
        .join("");
      return void send(outgoing, "text/html", page);
    }
    send(
      outgoing,
      "application/vnd.pypi.simple.v1+json",
      JSON.stringify({ meta: { "api-version": "1.0" }, name, files: links }),
    );
  }

  const index: PackageIndex = {
    url: `${origin}/simple`,
    requests,
    fault: undefined,
    add: (file) => void offered.push(file),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
  return index;
}

function send(outgoing: ServerResponse, type: string, body: string | Uint8Array | undefined): void {
  if (body === undefined) outgoing.writeHead(404).end();
  else outgoing.writeHead(200, { "content-type": type, "content-length": Buffer.byteLength(body) }).end(body);
}
