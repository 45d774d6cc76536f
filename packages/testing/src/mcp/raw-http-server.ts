import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type RawAnswers, rawMessages } from "./raw-answers.ts";

export interface RawHttpServer extends AsyncDisposable {
  readonly url: string;
  /** How many requests came, by their method. */
  readonly requests: ReadonlyMap<string, number>;
}

/** An MCP server over Streamable HTTP, without sessions, on a free port of 127.0.0.1, that says what it is given. */
export async function startRawHttpServer(answers: RawAnswers): Promise<RawHttpServer> {
  const requests = new Map<string, number>();
  const server = createServer((request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const message = JSON.parse(Buffer.concat(chunks).toString()) as Parameters<typeof rawMessages>[1];
      requests.set(message.method, (requests.get(message.method) ?? 0) + 1);
      const said = rawMessages(answers, message);
      if (said.length === 0) response.writeHead(202).end();
      else {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(said.map((each) => `event: message\ndata: ${JSON.stringify(each)}\n\n`).join(""));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    requests,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
