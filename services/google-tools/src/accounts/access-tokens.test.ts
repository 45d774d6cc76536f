import { randomUUID } from "node:crypto";
import { connectRedisLeaseStore } from "@rockbot/records/leases/redis";
import { sharedRedisUrl, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { AccessTokens } from "./access-tokens.ts";
import type { OAuthClient } from "./oauth-client.ts";
import { TokenStore } from "./token-store.ts";

test("of two instances that share leases one renews, and the other takes the token that this one got", async () => {
  using folder = temporaryFolder();
  const store = new TokenStore(folder.path, undefined);
  const account = `${randomUUID()}@example.com`;
  await store.write("gmail", { account, scopes: [], refreshToken: "1//refresh" });
  await using leases = await connectRedisLeaseStore(await sharedRedisUrl(), {});
  const owners = new Set<string>();
  const hold: typeof leases.hold = (name, claim) => {
    owners.add(claim.owner);
    return leases.hold(name, claim);
  };
  const answered = Promise.withResolvers<void>();
  let renewals = 0;
  const refresh: OAuthClient["refresh"] = async () => {
    renewals++;
    await answered.promise;
    return {
      accessToken: `ya29.token-${renewals}`,
      expiresInSeconds: 3_600,
      scopes: undefined,
      refreshToken: undefined,
      email: undefined,
    };
  };
  const instance = () =>
    new AccessTokens({
      store,
      oauth: { refresh } as OAuthClient,
      leases: { ...leases, hold, release: (...of) => leases.release(...of) },
      renewMs: 60_000,
    });
  const got = Promise.all(
    [instance(), instance()].map((tokens) => tokens.get("gmail", account, AbortSignal.timeout(50_000))),
  );
  await expect.poll(() => [owners.size, renewals], { timeout: 30_000 }).toEqual([2, 1]);
  answered.resolve();
  expect(await got).toEqual(["ya29.token-1", "ya29.token-1"]);
  expect(renewals).toBe(1);
});
