import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:tls";

/** Whether this machine has what startTlsPeer needs. */
export function canMakeCertificates(): boolean {
  return spawnSync("openssl", ["version"]).status === 0;
}

export interface TlsPeer extends AsyncDisposable {
  /** Of localhost. */
  readonly port: number;
  /** Signed by itself for localhost, in PEM: a client has to be told to trust it. */
  readonly certificate: string;
}

/** Speaks TLS with clients, and forwards to a server that does not. */
export async function startTlsPeer(target: string): Promise<TlsPeer> {
  const folder = mkdtempSync(join(tmpdir(), "rockbot-tls-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", cert, ...subject], { stdio: "ignore" });
  const certificate = readFileSync(cert, "utf8");
  const { hostname, port } = new URL(target);
  const server = createServer({ key: readFileSync(key), cert: certificate }, (client) => {
    const inner = connect({ host: hostname, port: Number(port) });
    client.pipe(inner).pipe(client);
    for (const socket of [client, inner]) socket.on("error", () => {});
    client.on("close", () => inner.destroy());
  });
  server.on("tlsClientError", () => {}); // clients that do not trust us
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  rmSync(folder, { recursive: true });
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    certificate,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
