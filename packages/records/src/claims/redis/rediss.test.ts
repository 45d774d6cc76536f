import { canMakeCertificates, sharedRedisUrl, startTlsPeer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { connectRedisClaimStore } from "./redis-claim-store.ts";

const url = await sharedRedisUrl();

// Node can use certificates, not make them: without openssl there is none to test with.
test.skipIf(!canMakeCertificates())("speaks rediss, and only with a peer whose certificate it can verify", async () => {
  await using peer = await startTlsPeer(url);
  const address = new URL(url);
  address.protocol = "rediss:";
  address.host = `localhost:${peer.port}`;
  const key = { caller: "agent", toolCallId: "nobody's" };

  await using distrustful = await connectRedisClaimStore(address.href, { connectTimeoutMs: 300 });
  await expect(distrustful.look(key)).rejects.toThrow(/there is no connection to rediss:.*self-signed certificate/);
  await using store = await connectRedisClaimStore(address.href, { ca: peer.certificate });
  expect(await store.look(key)).toBeUndefined();
});
