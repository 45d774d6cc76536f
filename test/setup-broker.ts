import { offerSharedBroker } from "@rockbot/testing";

/** Runs once, before all tests. @returns what runs after them */
export default async function setup(): Promise<() => Promise<void>> {
  const broker = await offerSharedBroker();
  return async () => broker[Symbol.asyncDispose]();
}
