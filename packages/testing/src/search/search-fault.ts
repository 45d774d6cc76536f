import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";

/** What the next request gets instead of results. */
export type SearchFault =
  | {
      readonly kind: "status";
      readonly status: number;
      readonly code?: string;
      readonly detail?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  | { readonly kind: "slow"; readonly ms: number }
  | { readonly kind: "huge"; readonly bytes: number }
  | { readonly kind: "raw"; readonly body: string; readonly contentType?: string }
  | { readonly kind: "redirect"; readonly location: string };

/** What a fault of a status, and one that ends in results, are in the protocol of the server. */
export interface SearchFaultWords {
  readonly fail: (fault: Extract<SearchFault, { kind: "status" }>) => void;
  readonly search: () => void;
}

/** Answers as the fault says. */
export async function misbehave(
  response: ServerResponse,
  fault: SearchFault,
  { fail, search }: SearchFaultWords,
): Promise<void> {
  switch (fault.kind) {
    case "status":
      for (const [name, value] of Object.entries(fault.headers ?? {})) response.setHeader(name, value);
      return fail(fault);
    case "slow":
      await sleep(fault.ms, undefined, { ref: false });
      return search();
    case "huge":
      response.setHeader("content-type", "application/json");
      await pipeline(function* () {
        yield '{"web":{"results":[{"title":"';
        for (let sent = 0; sent < fault.bytes; sent += 65_536) yield "x".repeat(65_536);
        yield '"}]}}';
      }, response).catch(() => {}); // the client may leave
      return;
    case "raw":
      response.setHeader("content-type", fault.contentType ?? "application/json");
      response.end(fault.body);
      return;
    case "redirect":
      response.writeHead(302, { location: fault.location }).end();
  }
}

/** Compressed, as search services do for clients that take it. */
export function sendJson(response: ServerResponse, status: number, body: object): void {
  response
    .writeHead(status, { "content-type": "application/json", "content-encoding": "gzip" })
    .end(gzipSync(JSON.stringify(body)));
}
