import { chooseBusUrl, MEMORY_BUS } from "../../bus-url.ts";
import { CommandError } from "../../command-error.ts";
import { liveSocket, NOT_RUNNING } from "../../runtime/own-socket.ts";
import type { DlqClient } from "./dlq-client.ts";

/**
 * Opens a client of the broker, if there is an address of one. Else the running `rockbot up`. @throws {CommandError} if
 * there is neither
 */
export async function openDlqClient(
  { bus, policy }: { readonly bus?: string | undefined; readonly policy?: string | undefined },
  env: Readonly<Record<string, string | undefined>>,
): Promise<DlqClient> {
  const url = chooseBusUrl(bus, env);
  if (url !== MEMORY_BUS)
    return (await import("./broker-dlq-client.ts")).openBrokerDlqClient(
      url,
      policy ?? (env["POLICY_FILE"] || undefined),
    );
  const socketPath = await liveSocket(env);
  if (socketPath !== undefined) return (await import("./socket-dlq-client.ts")).openSocketDlqClient(socketPath);
  throw new CommandError(
    `Cannot look at parked messages: ${NOT_RUNNING}. Over the in-memory bus they end with it; for those of a broker give its address by --bus or ROCKBOT_BUS`,
  );
}
