import { BusUnavailableError } from "@rockbot/bus";
import { createEnvelope } from "@rockbot/contracts";
import { canMakeCertificates, sharedAmqpUrl, startTlsPeer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { connectBus } from "./rabbitmq-bus.ts";

const url = await sharedAmqpUrl();

// Node can use certificates, not make them: without openssl there is none to test with.
test.skipIf(!canMakeCertificates())("speaks amqps, and only with a peer whose certificate it can verify", async () => {
  await using peer = await startTlsPeer(url);
  const address = new URL(url);
  address.protocol = "amqps:";
  address.host = `localhost:${peer.port}`;

  await expect(connectBus(address.href, { connectTimeoutMs: 500 })).rejects.toThrow(BusUnavailableError);
  await expect(connectBus(address.href, { connectTimeoutMs: 500 })).rejects.toThrow(/self-signed certificate/);
  await using bus = await connectBus(address.href, { tls: { ca: peer.certificate } });
  await bus.publish(createEnvelope({ topic: "nobody.listens", type: "t", source: "s", body: Buffer.from("x") }));
});
