import { offerSharedBroker, offerSharedRedis } from "@rockbot/testing";
import type { TestProject } from "vitest/node";
import { setUpPrograms } from "./setup-programs.ts";

/** Runs once, before all tests. @returns what runs after them */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await using starting = new AsyncDisposableStack();
  starting.use(await offerSharedBroker());
  starting.use(await offerSharedRedis());
  await setUpPrograms(project);
  const servers = starting.move();
  return () => servers.disposeAsync();
}
