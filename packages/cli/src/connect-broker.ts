import type { Logger } from "@rockbot/bus";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { displayBusUrl } from "./bus-url.ts";
import { CommandError } from "./command-error.ts";

const CONNECT_MS = 10_000;

/** Connects a command to a broker, under the command's name. @throws {CommandError} in words for the user, without the password */
export async function connectBroker(url: string, name: string, { log }: { readonly log?: Logger } = {}) {
  try {
    return await connectBus(url, { name, connectTimeoutMs: CONNECT_MS, log });
  } catch (error) {
    throw new CommandError(`Cannot reach the broker at ${displayBusUrl(url)}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
