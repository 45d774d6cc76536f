import type { Bus, Logger } from "@rockbot/bus";
import {
  agentTopics,
  createEnvelope,
  encodeMessage,
  type MessageName,
  type Messages,
  messages,
} from "@rockbot/contracts";
import { sessionNamespace } from "@rockbot/memory";

/** The session that a helper works in. No other has such an id, unless its caller gives it one. */
export const helperSession = (taskId: string): string => `subagent-${taskId}`;

/** Whose helper it is. */
export interface HelperPlace {
  readonly taskId: string;
  /** The session that has started it. */
  readonly sessionId: string;
}

/** They expire: the session learns the result by a turn, and `list_subagents` has the state. */
const TTL_MS = 60_000;

/** Tells programs on the bus of helpers, in the form of the .NET original. Where nobody listens, nothing is lost. */
export class HelperMessages {
  readonly #bus: Bus;
  readonly #log: Logger;

  constructor(bus: Bus, log: Logger) {
    this.#bus = bus;
    this.#log = log;
  }

  progress(place: HelperPlace, message: string): Promise<void> {
    return this.#send(agentTopics.helperProgress, "SubagentProgress", place.taskId, {
      ...idsOf(place),
      message,
      timestamp: new Date().toISOString(),
    });
  }

  result(place: HelperPlace, output: string, error: string | undefined): Promise<void> {
    const isSuccess = error === undefined;
    return this.#send(agentTopics.helperResult, "SubagentResult", place.taskId, {
      ...idsOf(place),
      output,
      isSuccess,
      error: error ?? null,
      timestamp: new Date().toISOString(),
    });
  }

  async #send<Name extends MessageName>(
    topic: string,
    name: Name,
    taskId: string,
    body: Messages[Name],
  ): Promise<void> {
    const envelope = createEnvelope({
      topic,
      type: messages[name].type,
      source: helperSession(taskId),
      ttlMs: TTL_MS,
      body: encodeMessage(name, body),
    });
    await this.#bus
      .publish(envelope)
      .catch((error: unknown) =>
        this.#log.debug({ topic, reason: String(error) }, "could not tell of a helper on the bus"),
      );
  }
}

const idsOf = ({ taskId, sessionId }: HelperPlace) => ({
  taskId,
  subagentSessionId: helperSession(taskId),
  primarySessionId: sessionNamespace(sessionId),
});
