import { type Bus, type Logger, silentLogger } from "@rockbot/bus";
import {
  AGENT,
  type AgentEvent,
  agentTopics,
  decodeMessage,
  type Envelope,
  type ToolAgentEventsOutput,
  ToolError,
  ToolErrorCode,
  tools,
} from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import { createIdentity, type Identity, METERED, type ToolCaller } from "@rockbot/tools";
import { SessionListener } from "./session-listener.ts";

export interface SessionHubOptions {
  /** Where the bus verifies senders, it says who the agent is. */
  readonly policy?: PolicyHolder | undefined;
  readonly log?: Logger | undefined;
}

/** How long a read of a session's log may take. */
const READ_MS = 5_000;
/** A caller's subscription is kept for the next stream. */
const KEEP_MS = 30_000;

interface Hearing {
  readonly subscription: Promise<AsyncDisposable>;
  /** The listeners by topic. */
  readonly listeners: Map<string, Set<SessionListener>>;
  end: NodeJS.Timeout | undefined;
}

/**
 * Hears what happens in the agent's sessions, for streams of this process. Streams of one caller share a subscription:
 * a broker that verifies its users lets each have a bounded number of them.
 */
export class SessionHub implements AsyncDisposable {
  readonly #bus: Bus;
  readonly #caller: ToolCaller;
  readonly #identity: Identity;
  readonly #log: Logger;
  readonly #hearings = new Map<string, Hearing>();

  constructor(bus: Bus, caller: ToolCaller, { policy, log = silentLogger }: SessionHubOptions = {}) {
    this.#bus = bus;
    this.#caller = caller;
    this.#identity = createIdentity(bus, policy);
    this.#log = log;
  }

  /**
   * Hears the session from now on, until disposed of.
   * @param by whose session it is, on whose behalf its log is read; undefined for the caller of this process
   * @throws {ToolError} if the bus cannot be reached
   */
  async listen(by: string | undefined, sessionId: string): Promise<SessionListener> {
    const owner = by ?? this.#caller.agent;
    const topic = agentTopics.event(owner, sessionId);
    const hearing = this.#hearing(owner);
    const ofTopic = hearing.listeners.get(topic) ?? new Set();
    const listener = new SessionListener(
      (after) => this.#read(by, sessionId, after),
      () => this.#leave(owner, topic, listener),
    );
    hearing.listeners.set(topic, ofTopic.add(listener));
    try {
      await hearing.subscription;
      return listener;
    } catch (error) {
      listener[Symbol.dispose]();
      throw new ToolError(
        ToolErrorCode.Unavailable,
        "Cannot follow the session: the bus cannot be reached now. Try again",
        { cause: error },
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const hearings = [...this.#hearings.values()];
    this.#hearings.clear();
    await Promise.all(hearings.map(endOf));
  }

  #hearing(owner: string): Hearing {
    const known = this.#hearings.get(owner);
    if (known !== undefined) {
      clearTimeout(known.end);
      return known;
    }
    const listeners: Hearing["listeners"] = new Map();
    const hear = async (message: Envelope): Promise<void> => {
      const ofTopic = listeners.get(message.topic);
      const event = ofTopic === undefined ? undefined : this.#eventOf(message);
      if (event !== undefined) for (const listener of ofTopic ?? []) listener.hear(event);
    };
    const topics = [agentTopics.event(owner, "").replace(/[^.]+$/, "*")];
    const subscription = this.#bus.subscribe(
      { name: `agent-events.${owner}`, topics, kind: "copy", isTraced: false, ...METERED },
      hear,
    );
    const hearing = { subscription, listeners, end: undefined };
    this.#hearings.set(owner, hearing);
    subscription.catch((err: unknown) => {
      if (this.#hearings.get(owner) === hearing) this.#hearings.delete(owner);
      this.#log.warn({ err, caller: owner }, "the events of an agent's sessions cannot be heard");
    });
    return hearing;
  }

  #eventOf(message: Envelope): AgentEvent | undefined {
    const service = this.#caller.tools.get(tools.agentChat.name)?.source ?? AGENT;
    if (!this.#identity.isFrom(service, message, "progress")) return undefined;
    const event = decodeMessage("AgentEvent", message.body);
    return event.ok ? event.value : undefined;
  }

  #leave(owner: string, topic: string, listener: SessionListener): void {
    const hearing = this.#hearings.get(owner);
    const ofTopic = hearing?.listeners.get(topic);
    ofTopic?.delete(listener);
    if (hearing === undefined || ofTopic?.size !== 0) return;
    hearing.listeners.delete(topic);
    if (hearing.listeners.size > 0) return;
    hearing.end = setTimeout(() => {
      if (this.#hearings.get(owner) === hearing) this.#hearings.delete(owner); // one that failed has given way to another
      void endOf(hearing);
    }, KEEP_MS).unref();
  }

  async #read(by: string | undefined, sessionId: string, after: number): Promise<ToolAgentEventsOutput> {
    const { name, validateOutput } = tools.agentEvents;
    const { structured, content } = await this.#caller.call(
      name,
      { session_id: sessionId, after },
      { onBehalfOf: by, timeoutMs: READ_MS },
    );
    if (validateOutput?.(structured)) return structured as unknown as ToolAgentEventsOutput;
    throw new ToolError(
      ToolErrorCode.ExecutionFailed,
      `Cannot read the events of the session: ${content ?? "the agent's answer cannot be read"}`,
    );
  }
}

async function endOf({ subscription, end }: Hearing): Promise<void> {
  clearTimeout(end);
  await (await subscription.catch(() => undefined))?.[Symbol.asyncDispose]();
}
