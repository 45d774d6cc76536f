import { busUrlFaults, chooseBusUrl, MEMORY_BUS } from "../../bus-url.ts";
import { CommandError } from "../../command-error.ts";
import { NOT_RUNNING, ownSocket } from "../../runtime/own-socket.ts";
import { UsageError } from "../../usage-error.ts";
import type { OwnCalls } from "./own-calls.ts";

export interface OpenOwnCallsOptions {
  /** The options `--bus`, `--policy` and `--redis`. */
  readonly bus: string | undefined;
  readonly policy: string | undefined;
  readonly redis: string | undefined;
  readonly requested: Promise<NodeJS.Signals>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Behind a broker, if there is an address of one, the records in the Redis of the services. Else the running
 * `rockbot up`.
 * @throws {CommandError} in words if neither can be read
 */
export async function openOwnCalls({ bus, policy, redis, requested, env }: OpenOwnCallsOptions): Promise<OwnCalls> {
  const url = chooseBusUrl(bus, env);
  const faults = busUrlFaults(url);
  if (faults.length > 0) throw new UsageError(faults);
  if (url === MEMORY_BUS) {
    const socket = ownSocket(env);
    if (!(await socket.isLive()))
      throw new CommandError(
        `Cannot read the call: ${NOT_RUNNING}. For a call over a broker, name that by --bus, and the Redis of the services by --redis`,
      );
    const { openSocketOwnCalls } = await import("./socket-own-calls.ts");
    return openSocketOwnCalls(socket.path);
  }
  const redisUrl = redis ?? (env["REDIS_URL"] || undefined);
  if (redisUrl === undefined)
    throw new CommandError(
      "Cannot read the call: over a broker it is read in the Redis of the services. Name that by --redis or REDIS_URL. A service without Redis keeps its calls to itself: to get the end of one, make the same call again with --id and the same arguments",
    );
  const { openBrokerOwnCalls } = await import("./broker-own-calls.ts");
  return openBrokerOwnCalls(url, { redisUrl, policyFile: policy ?? (env["POLICY_FILE"] || undefined), requested });
}
