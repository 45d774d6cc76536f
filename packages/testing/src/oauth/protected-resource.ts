import { createServer, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { AuthorizationServer } from "./authorization-server.ts";

export interface ProtectedResource extends AsyncDisposable {
  /** Where clients go to. */
  readonly url: string;
  /** Requests that came with a valid token. */
  readonly admitted: number;
  /** Requests that came without one, or with another. */
  readonly refused: number;
}

/**
 * Puts a listener behind an authorization server, at `/mcp` on a free port of 127.0.0.1: requests need one of its
 * tokens, and others get its address.
 * @see RFC 9728 (protected resource metadata)
 */
export async function startProtectedResource(
  server: Pick<AuthorizationServer, "issuer" | "isValid">,
  listener: RequestListener,
): Promise<ProtectedResource> {
  let admitted = 0;
  let refused = 0;
  const http = createServer((request, response) => {
    if (request.url?.startsWith("/.well-known/oauth-protected-resource")) {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(
        JSON.stringify({ resource: url, authorization_servers: [server.issuer], scopes_supported: ["tools", "admin"] }),
      );
      return;
    }
    void server.isValid(bearerOf(request), url).then((isValid) => {
      if (isValid) {
        admitted++;
        listener(request, response);
      } else {
        refused++;
        response
          .writeHead(401, {
            "www-authenticate": `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`,
          })
          .end();
      }
    });
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const url = `${origin}/mcp`;
  return {
    url,
    get admitted() {
      return admitted;
    },
    get refused() {
      return refused;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => http.close(resolve));
      http.closeAllConnections();
      await closed;
    },
  };
}

const bearerOf = ({ headers }: IncomingMessage): string => headers.authorization?.replace(/^Bearer /i, "") ?? "";
