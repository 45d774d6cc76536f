import type { Bus } from "@rockbot/bus";
import { type ConnectBusOptions, connectBus } from "@rockbot/bus-rabbitmq";
import { openPolicy, type PolicyHolder } from "@rockbot/policy";
import { displayBusUrl } from "./bus-url.ts";
import { CommandError } from "./command-error.ts";
import { Interrupted } from "./interrupted.ts";
import { unlessInterrupted } from "./terminal/interruption.ts";

const CONNECT_MS = 10_000;

interface ConnectBrokerOptions extends Pick<ConnectBusOptions, "log" | "identity" | "heartbeatSeconds" | "silenceMs"> {
  /** Resolves when a signal asks the command to end. The attempt to connect then holds it up no longer. */
  readonly requested?: Promise<NodeJS.Signals> | undefined;
}

/**
 * Connects a command to a broker, under the command's name.
 * @throws {CommandError} in words for the user, without the password
 * @throws {Interrupted} if a signal comes before
 */
export async function connectBroker(url: string, name: string, { requested, ...options }: ConnectBrokerOptions = {}) {
  const connecting = connectBus(url, { name, connectTimeoutMs: CONNECT_MS, ...options });
  try {
    return await (requested === undefined ? connecting : unlessInterrupted(connecting, requested));
  } catch (error) {
    if (error instanceof Interrupted) throw error;
    throw new CommandError(
      `Cannot reach the broker at ${displayBusUrl(url)}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** A bus as its policy wants it. */
export interface RuledBus extends AsyncDisposable {
  readonly bus: Bus;
  /** Undefined if there is no policy file. */
  readonly policy: PolicyHolder | undefined;
  /** The agent that makes the calls: the broker's user, where that is verified. */
  readonly agent: string;
}

/**
 * The same with the policy in `policyFile`, which says whether senders are verified.
 * @throws {ConfigError} if that cannot be used
 */
export async function connectRuled(
  url: string,
  name: string,
  policyFile: string | undefined,
  requested?: Promise<NodeJS.Signals>,
): Promise<RuledBus> {
  await using started = new AsyncDisposableStack();
  const policy = policyFile === undefined ? undefined : started.use(await openPolicy(policyFile));
  const bus = started.use(await connectBroker(url, name, { identity: policy?.current().document.identity, requested }));
  const parts = started.move();
  return { bus, policy, agent: bus.traits.user ?? "cli", [Symbol.asyncDispose]: () => parts.disposeAsync() };
}
