import { newId } from "@rockbot/contracts";
import { createToolCaller } from "@rockbot/tools";
import { displayBusUrl } from "../bus-url.ts";
import { connectBroker } from "../connect-broker.ts";
import { callerClient } from "./caller-client.ts";
import type { ToolClient } from "./tool-client.ts";

/** Calls the services behind a broker. The result queue is this command's own and ends with it. */
export async function openBrokerClient(url: string): Promise<ToolClient> {
  await using started = new AsyncDisposableStack();
  const bus = started.use(await connectBroker(url, "rockbot call"));
  const caller = started.use(await createToolCaller(bus, { agent: "cli", instance: newId().slice(0, 12), results: "copy" }));
  return callerClient(`services behind ${displayBusUrl(url)}`, caller, started.move());
}
