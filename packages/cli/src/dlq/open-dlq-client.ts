import { chooseBusUrl, MEMORY_BUS } from "../bus-url.ts";
import { CommandError } from "../command-error.ts";
import { isLiveSocket } from "../runtime/is-live-socket.ts";
import { checkRuntimeFolder, runtimeFolder, socketPath } from "../runtime/runtime-folder.ts";
import type { DlqClient } from "./dlq-client.ts";

/** With a broker's address: that broker. Else the running `rockbot up`. @throws {CommandError} if there is neither */
export async function openDlqClient(bus: string | undefined, env: Readonly<Record<string, string | undefined>>): Promise<DlqClient> {
  const url = chooseBusUrl(bus, env);
  if (url !== MEMORY_BUS) return (await import("./broker-dlq-client.ts")).openBrokerDlqClient(url);
  const uid = process.getuid?.() ?? 0;
  const folder = runtimeFolder(env, uid);
  const socket = socketPath(folder);
  if (checkRuntimeFolder(folder, uid) && (await isLiveSocket(socket))) return (await import("./socket-dlq-client.ts")).openSocketDlqClient(socket);
  throw new CommandError(
    'Cannot look at parked messages: no "rockbot up" runs. Over the in-memory bus they end with it; for those of a broker give its address by --bus or ROCKBOT_BUS',
  );
}
