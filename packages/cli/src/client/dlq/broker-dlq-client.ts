import { runDlq } from "@rockbot/gateway/dlq";
import { createToolCaller } from "@rockbot/tools";
import { displayBusUrl } from "../../bus-url.ts";
import { connectRuled } from "../../connect-broker.ts";
import { ownLetters } from "../../own-letters.ts";
import type { DlqClient } from "./dlq-client.ts";

/** Looks at the parked messages of a broker. */
export async function openBrokerDlqClient(url: string, policyFile: string | undefined): Promise<DlqClient> {
  await using started = new AsyncDisposableStack();
  const { bus, policy, agent } = started.use(await connectRuled(url, "rockbot dlq", policyFile));
  const caller = started.use(await createToolCaller(bus, { agent, results: "copy", policy }));
  const parts = started.move();
  return {
    where: displayBusUrl(url),
    run: (request, emit, signal) => runDlq({ bus, caller, policy, ...ownLetters }, request, emit, signal),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
