import { CommandError } from "../command-error.ts";
import { isLiveSocket } from "../runtime/is-live-socket.ts";
import { checkRuntimeFolder, runtimeFolder, socketPath } from "../runtime/runtime-folder.ts";
import type { CallSource } from "./call-source.ts";

/** The journals in Redis if there is an address, else those of the running `rockbot up`. @throws {CommandError} if neither can be read */
export async function openCallSource({
  redis,
  env,
}: {
  readonly redis: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
}): Promise<CallSource> {
  if (redis !== undefined) {
    const { openRedisCallSource } = await import("./redis-call-source.ts");
    return openRedisCallSource(redis);
  }
  const uid = process.getuid?.() ?? 0;
  const folder = runtimeFolder(env, uid);
  const socket = socketPath(folder);
  if (checkRuntimeFolder(folder, uid) && (await isLiveSocket(socket))) {
    const { openSocketCallSource } = await import("./socket-call-source.ts");
    return openSocketCallSource(socket);
  }
  throw new CommandError(
    'Cannot read any calls: no "rockbot up" over the in-memory bus runs here. For callers that keep their journal in Redis, give its address: --redis redis://host',
  );
}
