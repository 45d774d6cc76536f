import { connectBus } from "@rockbot/bus-rabbitmq";
import { newId } from "@rockbot/contracts";
import { createToolCaller } from "@rockbot/tools";
import { displayBusUrl } from "../bus-url.ts";
import { CommandError } from "../command-error.ts";
import { callerClient } from "./caller-client.ts";
import type { ToolClient } from "./tool-client.ts";

const CONNECT_MS = 10_000;

/** Calls the services behind a broker. The result queue is this command's own and ends with it. */
export async function openBrokerClient(url: string): Promise<ToolClient> {
  await using started = new AsyncDisposableStack();
  const bus = started.use(
    await connectBus(url, { name: "rockbot call", connectTimeoutMs: CONNECT_MS }).catch((error: unknown) => {
      throw new CommandError(`Cannot reach the broker at ${displayBusUrl(url)}: ${error instanceof Error ? error.message : String(error)}`);
    }),
  );
  const caller = started.use(await createToolCaller(bus, { agent: "cli", instance: newId().slice(0, 12), results: "copy" }));
  return callerClient(`services behind ${displayBusUrl(url)}`, caller, started.move());
}
