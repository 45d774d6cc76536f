import { newId } from "@rockbot/contracts";
import { createToolCaller, OPERATOR } from "@rockbot/tools";
import { displayBusUrl } from "../bus-url.ts";
import { connectRuled } from "../connect-broker.ts";
import { callerClient } from "./caller-client.ts";
import type { ToolClient } from "./tool-client.ts";

export interface BrokerClientOptions {
  readonly policyFile: string | undefined;
  readonly requested?: Promise<NodeJS.Signals> | undefined;
  /** The caller for whom all is asked, if that is not the user itself. */
  readonly onBehalfOf?: string | undefined;
}

/** Calls the services behind a broker. The result queue is this command's own and ends with it. A call that the policy does not allow is not sent. */
export async function openBrokerClient(url: string, { policyFile, requested, onBehalfOf }: BrokerClientOptions): Promise<ToolClient> {
  await using started = new AsyncDisposableStack();
  const { bus, policy, agent: own } = started.use(await connectRuled(url, "rockbot call", policyFile, requested));
  const agent = onBehalfOf === undefined ? own : (bus.traits.user ?? OPERATOR);
  const caller = started.use(await createToolCaller(bus, { agent, instance: newId().slice(0, 12), results: "copy", policy }));
  return callerClient(caller, { where: `services behind ${displayBusUrl(url)}`, bus, policy, onBehalfOf }, started.move());
}
