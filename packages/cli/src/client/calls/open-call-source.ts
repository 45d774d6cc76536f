import { CommandError } from "../../command-error.ts";
import { liveSocket, NOT_RUNNING } from "../../runtime/own-socket.ts";
import type { CallSource } from "./call-source.ts";

/**
 * The journals in Redis if there is an address, else those of the running `rockbot up`.
 * @throws {CommandError} if neither can be read
 */
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
  const socketPath = await liveSocket(env);
  if (socketPath !== undefined) {
    const { openSocketCallSource } = await import("./socket-call-source.ts");
    return openSocketCallSource(socketPath);
  }
  throw new CommandError(
    `Cannot read any calls: ${NOT_RUNNING}. For callers that keep their journal in Redis, give its address: --redis redis://host`,
  );
}
