import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request as it came over the wire. */
export interface RecordedRequest {
  readonly method: string;
  /** The target as it was sent: nothing in it is decoded or normalized. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

export interface RecordingServer extends AsyncDisposable {
  /** Without a slash at the end. */
  readonly url: string;
  readonly port: number;
  readonly requests: readonly RecordedRequest[];
  /** The requests since the last time. */
  take(): RecordedRequest[];
}

/**
 * An HTTP service on a free port of 127.0.0.1 that keeps what it is sent, body included. It answers 200 and `{}` unless
 * `answer` says something else.
 */
export async function startRecordingServer(
  answer?: (request: RecordedRequest, response: ServerResponse) => void,
): Promise<RecordingServer> {
  let requests: RecordedRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url: target = "", headers, rawHeaders } = request;
      const recorded = { method, target, headers, rawHeaders, body: Buffer.concat(chunks) };
      requests.push(recorded);
      if (answer !== undefined) return answer(recorded, response);
      response.setHeader("content-type", "application/json");
      response.end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    get requests() {
      return requests;
    },
    take() {
      const taken = requests;
      requests = [];
      return taken;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
