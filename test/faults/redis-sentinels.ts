import { startOwnRedis, type TestRedis } from "@rockbot/testing";
import { expect } from "vitest";

const POLL = { timeout: 30_000, interval: 100 };
const PASSWORD = "of-all-servers";
const MASTER = "claims";
const SENTINELS = 3;
/** Two of them have to agree that the master is gone. */
const QUORUM = "2";

/** A master of Redis with two replicas, watched by three Sentinels: what a deployment has. */
export interface WatchedRedis extends AsyncDisposable {
  /** The address by way of the Sentinels. */
  readonly url: string;
  /**
   * Kills the master by SIGKILL, and waits until the Sentinels have another.
   * @returns how long that took, in milliseconds
   */
  failOver(): Promise<number>;
}

export async function startWatchedRedis(): Promise<WatchedRedis> {
  await using starting = new AsyncDisposableStack();
  const start = async (isSentinel: boolean): Promise<TestRedis> => {
    const server = starting.use(await startOwnRedis({ isSentinel }));
    await server.ctl("acl", "setuser", "default", `>${PASSWORD}`);
    return server;
  };
  const [servers, sentinels] = await Promise.all([
    Promise.all([0, 1, 2].map(() => start(false))),
    Promise.all(Array.from({ length: SENTINELS }, () => start(true))),
  ]);
  const [master, ...replicas] = servers as [TestRedis, ...TestRedis[]];
  const addresses = new Map<string, TestRedis>();
  for (const server of servers) addresses.set(new URL(await server.directUrl()).host, server);
  const { hostname, port } = new URL(await master.directUrl());
  for (const server of servers) {
    await server.ctl("config", "set", "masterauth", PASSWORD);
    await server.ctl("config", "set", "min-replicas-to-write", "1");
    await server.ctl("config", "set", "min-replicas-max-lag", "1");
  }
  for (const replica of replicas) await replica.ctl("replicaof", hostname, port);
  for (const replica of replicas)
    await expect.poll(() => replica.ctl("info", "replication"), POLL).toContain("master_link_status:up");
  for (const sentinel of sentinels) {
    await sentinel.ctl("sentinel", "config", "set", "sentinel-pass", PASSWORD);
    await sentinel.ctl("sentinel", "monitor", MASTER, hostname, port, QUORUM);
    await sentinel.ctl(
      "sentinel",
      "set",
      MASTER,
      "auth-pass",
      PASSWORD,
      "down-after-milliseconds",
      "1500",
      "failover-timeout",
      "10000",
    );
  }
  for (const sentinel of sentinels) {
    await expect
      .poll(() => sentinel.ctl("sentinel", "master", MASTER), POLL)
      .toMatch(new RegExp(`num-slaves\\n2\\n[^]*num-other-sentinels\\n${SENTINELS - 1}\\n`));
  }
  const hosts = await Promise.all(sentinels.map(async (sentinel) => new URL(await sentinel.directUrl()).host));
  const known = async (): Promise<string> =>
    (await sentinels[0]?.ctl("sentinel", "get-master-addr-by-name", MASTER))?.trim().replace("\n", ":") ?? "";
  const started = starting.move();
  return {
    url: `redis+sentinel://:${PASSWORD}@${hosts.join(",")}/${MASTER}`,
    async failOver() {
      const before = await known();
      const at = performance.now();
      await addresses.get(before)?.kill();
      await expect.poll(known, POLL).not.toBe(before);
      return performance.now() - at;
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
