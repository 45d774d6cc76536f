import { createToolCaller } from "@rockbot/tools";
import { displayBusUrl } from "../bus-url.ts";
import { connectBroker } from "../connect-broker.ts";
import type { DlqClient } from "./dlq-client.ts";
import { runDlq } from "./run-dlq.ts";

/** Looks at the parked messages of a broker. */
export async function openBrokerDlqClient(url: string): Promise<DlqClient> {
  await using started = new AsyncDisposableStack();
  const bus = started.use(await connectBroker(url, "rockbot dlq"));
  const caller = started.use(await createToolCaller(bus, { agent: "cli", results: "copy" }));
  const parts = started.move();
  return {
    where: displayBusUrl(url),
    run: (request, emit, signal) => runDlq({ bus, caller }, request, emit, signal),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
