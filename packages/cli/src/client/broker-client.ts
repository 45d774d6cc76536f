import { newId } from "@rockbot/contracts";
import { openPolicy } from "@rockbot/policy";
import { createToolCaller } from "@rockbot/tools";
import { displayBusUrl } from "../bus-url.ts";
import { connectBroker } from "../connect-broker.ts";
import { callerClient } from "./caller-client.ts";
import type { ToolClient } from "./tool-client.ts";

/** Calls the services behind a broker. The result queue is this command's own and ends with it. What the policy does not allow is not sent. */
export async function openBrokerClient(url: string, policyFile: string | undefined): Promise<ToolClient> {
  await using started = new AsyncDisposableStack();
  const bus = started.use(await connectBroker(url, "rockbot call"));
  const policy = policyFile === undefined ? undefined : started.use(await openPolicy(policyFile));
  const caller = started.use(await createToolCaller(bus, { agent: "cli", instance: newId().slice(0, 12), results: "copy", policy }));
  return callerClient(`services behind ${displayBusUrl(url)}`, caller, started.move());
}
