import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer } from "node:tls";
import { BusUnavailableError } from "@rockbot/bus";
import { createEnvelope } from "@rockbot/contracts";
import { sharedAmqpUrl } from "@rockbot/testing";
import { expect, test } from "vitest";
import { connectBus } from "./rabbitmq-bus.ts";

const url = await sharedAmqpUrl();
const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;

// Node can use certificates, not make them: without openssl there is none to test with.
test.skipIf(!hasOpenssl)("speaks amqps, and only with a peer whose certificate it can verify", async () => {
  await using peer = await startTlsPeer(url);
  const address = new URL(url);
  address.protocol = "amqps:";
  address.host = `localhost:${peer.port}`;

  await expect(connectBus(address.href, { connectTimeoutMs: 500 })).rejects.toThrow(BusUnavailableError);
  await expect(connectBus(address.href, { connectTimeoutMs: 500 })).rejects.toThrow(/self-signed certificate/);
  await using bus = await connectBus(address.href, { tls: { ca: peer.certificate } });
  await bus.publish(createEnvelope({ topic: "nobody.listens", type: "t", source: "s", body: Buffer.from("x") }));
});

/** Speaks TLS with clients, and forwards to a broker that does not. */
async function startTlsPeer(target: string): Promise<AsyncDisposable & { readonly port: number; readonly certificate: string }> {
  const folder = mkdtempSync(join(tmpdir(), "rockbot-tls-"));
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", cert, ...subject], { stdio: "ignore" });
  const certificate = readFileSync(cert, "utf8");
  const { hostname, port } = new URL(target);
  const server = createServer({ key: readFileSync(key), cert: certificate }, (client) => {
    const broker = connect({ host: hostname, port: Number(port) });
    client.pipe(broker).pipe(client);
    for (const socket of [client, broker]) socket.on("error", () => {});
    client.on("close", () => broker.destroy());
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
