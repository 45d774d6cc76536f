import { newId } from "@rockbot/contracts";
import { createToolCaller } from "@rockbot/tools";
import { displayBusUrl } from "../bus-url.ts";
import { connectRuled } from "../connect-broker.ts";
import { callerClient } from "./caller-client.ts";
import type { ToolClient } from "./tool-client.ts";

/** Calls the services behind a broker. The result queue is this command's own and ends with it. A call that the policy does not allow is not sent. */
export async function openBrokerClient(url: string, policyFile: string | undefined, requested?: Promise<NodeJS.Signals>): Promise<ToolClient> {
  await using started = new AsyncDisposableStack();
  const { bus, policy, agent } = started.use(await connectRuled(url, "rockbot call", policyFile, requested));
  const caller = started.use(await createToolCaller(bus, { agent, instance: newId().slice(0, 12), results: "copy", policy }));
  return callerClient(caller, { where: `services behind ${displayBusUrl(url)}`, bus, policy }, started.move());
}
