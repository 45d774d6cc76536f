import { connect } from "node:net";
import { createServer } from "node:tls";
import { makeCertificate } from "./make-certificate.ts";

export interface TlsPeer extends AsyncDisposable {
  /** The port on localhost. */
  readonly port: number;
  /** In PEM, self-signed for localhost: a client has to trust it explicitly. */
  readonly certificate: string;
}

/** Speaks TLS with clients, and forwards to a server that does not. */
export async function startTlsPeer(target: string): Promise<TlsPeer> {
  const { key, certificate } = makeCertificate();
  const { hostname, port } = new URL(target);
  const server = createServer({ key, cert: certificate }, (client) => {
    const inner = connect({ host: hostname, port: Number(port) });
    client.pipe(inner).pipe(client);
    for (const socket of [client, inner]) socket.on("error", () => {});
    client.on("close", () => inner.destroy());
  });
  server.on("tlsClientError", () => {}); // clients that do not trust us
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    certificate,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
