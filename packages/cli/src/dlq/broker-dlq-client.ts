import { connectBus } from "@rockbot/bus-rabbitmq";
import { createToolCaller } from "@rockbot/tools";
import { displayBusUrl } from "../bus-url.ts";
import { CommandError } from "../command-error.ts";
import type { DlqClient } from "./dlq-client.ts";
import { runDlq } from "./run-dlq.ts";

const CONNECT_MS = 10_000;

/** Looks at the parked messages of a broker. */
export async function openBrokerDlqClient(url: string): Promise<DlqClient> {
  await using started = new AsyncDisposableStack();
  const bus = started.use(
    await connectBus(url, { name: "rockbot dlq", connectTimeoutMs: CONNECT_MS }).catch((error: unknown) => {
      throw new CommandError(`Cannot reach the broker at ${displayBusUrl(url)}: ${error instanceof Error ? error.message : String(error)}`);
    }),
  );
  const caller = started.use(await createToolCaller(bus, { agent: "cli", results: "copy" }));
  const parts = started.move();
  return {
    where: displayBusUrl(url),
    run: (request, emit, signal) => runDlq({ bus, caller }, request, emit, signal),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}
