import { offerSharedBroker, offerSharedRedis } from "@rockbot/testing";

/** Runs once, before all tests. @returns what runs after them */
export default async function setup(): Promise<() => Promise<void>> {
  await using starting = new AsyncDisposableStack();
  starting.use(await offerSharedBroker());
  starting.use(await offerSharedRedis());
  const servers = starting.move();
  return () => servers.disposeAsync();
}
