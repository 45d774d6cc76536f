import { type Bus, createRequester } from "@rockbot/bus";
import { type Envelope, Header, newId, ToolError, ToolErrorCode, type ToolInvokeResponse } from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import { MAX_TIMEOUT_MS } from "../limits.ts";
import { createIdentity } from "../messages/identity.ts";
import { formOf, type RequestForm } from "../messages/request-form.ts";

/**
 * The name under which an operator's command calls for others where nobody is verified: a delegate, unless the policy names
 * others.
 */
export const OPERATOR = "operator";

export interface CreateReplayerOptions {
  /**
   * Decides which sender of a parked message is believed, where the bus verifies senders.
   * @default see createIdentity
   */
  readonly policy?: PolicyHolder | undefined;
  /** Requests that services take besides ToolInvokeRequests. @default none */
  readonly forms?: readonly RequestForm[] | undefined;
}

/** Settings of one replay. */
export interface ReplayOptions {
  /** How long to wait for the answer, in milliseconds; also the budget that the service gets. At most 20 minutes. */
  readonly timeoutMs: number;
  /** The user that parked the message, as the bus verified it. */
  readonly parkedBy?: string | undefined;
  /** Aborting ends the waiting, not the call. */
  readonly signal?: AbortSignal | undefined;
}

/** The answer of a service to a replayed request. */
export interface ReplayAnswer {
  /** Undefined if what came is no answer to such a request, such as one of a service that speaks other messages. */
  readonly reply: ToolInvokeResponse | ToolError | undefined;
  /** True if asking again would give the same: an error that may pass is not final. */
  readonly isFinal: boolean;
}

/** Sends parked requests once more, and takes the answers: the caller of then waits no longer. */
export interface Replayer extends AsyncDisposable {
  /**
   * Publishes the request again as it was: same topic, message id, body and source, so that the claims of its service
   * know it. Where the bus verifies senders, the request goes on behalf of the caller of then, and the operator must be
   * a delegate for that. A call that has run is not run again; its earlier result is the answer. The call is not
   * cancelled when nobody waits any longer, for a cancelled call could never be played again.
   * @param service the subscription that it was parked for
   * @throws {ReplayRefusedError} if it was not published, in words for the operator
   * @throws {RequestTimeoutError} if no answer came in time
   * @throws the signal's reason if it aborts, and what Bus.publish throws
   */
  replay(message: Envelope, service: string, options: ReplayOptions): Promise<ReplayAnswer>;
}

/** It makes no sense to publish the request now. */
export class ReplayRefusedError extends Error {
  override readonly name = "ReplayRefusedError";
  /** True if it is about this message: another may be played. */
  readonly isOfMessage: boolean;

  constructor(message: string, isOfMessage: boolean) {
    super(message);
    this.isOfMessage = isOfMessage;
  }
}

/** Subscribes for answers with the first replay; the queue ends with the replayer. */
export function createReplayer(bus: Bus, { policy, forms = [] }: CreateReplayerOptions = {}): Replayer {
  const identity = createIdentity(bus, policy);
  const address = `${bus.traits.user ?? OPERATOR}.${newId().slice(0, 12)}`;
  const requester = createRequester(bus, {
    replyTo: `tool.result.${address}`,
    subscription: { name: `result.${address}`, kind: "copy" },
  });

  return {
    async replay(message, service, { timeoutMs, parkedBy, signal }) {
      if (!Number.isFinite(timeoutMs) || timeoutMs < 1 || timeoutMs > MAX_TIMEOUT_MS) {
        throw new RangeError(
          `Cannot play a message again with a timeout of ${timeoutMs} ms: expected 1 to ${MAX_TIMEOUT_MS}`,
        );
      }
      const toSend = toReplay(message, { timeoutMs, behalf: behalfOf(message, service, parkedBy) });
      if ((await bus.inspect(service))?.consumers === 0) {
        throw new ReplayRefusedError(
          `Cannot play the message again: no instance of "${service}" runs. Start one and try again`,
          false,
        );
      }
      const answer = await requester.request(toSend, { timeoutMs, signal });
      const reply = formOf(message, forms).readReply(answer.body, answer.type);
      return {
        reply,
        isFinal: !(reply instanceof ToolError && (reply.isRetryable || reply.code === ToolErrorCode.Denied)),
      };
    },
    [Symbol.asyncDispose]: () => requester[Symbol.asyncDispose](),
  };

  /** Headers that make it the call it was. As a call of somebody else it could run a second time. */
  function behalfOf(
    message: Envelope,
    service: string,
    parkedBy: string | undefined,
  ): Readonly<Record<string, string>> {
    const { source, userId = source } = message;
    if (!bus.traits.verifiesSender) {
      if (userId === source) return {};
      throw new ReplayRefusedError(
        `Cannot play the message again: it was sent by the verified user "${userId}", and this bus verifies nobody`,
        true,
      );
    }
    if (parkedBy !== undefined && !identity.isFrom(service, { ...message, userId: parkedBy }, "parked")) {
      throw new ReplayRefusedError(
        `Cannot play the message again: "${parkedBy}" has put it there, who is not the service "${service}"`,
        true,
      );
    }
    const sender = identity.senderOf(message);
    if ("refusal" in sender)
      throw new ReplayRefusedError(
        `Cannot play the message again, which its service would not have taken. ${sender.refusal.message}`,
        true,
      );
    return { [Header.OnBehalfOf]: sender.caller };
  }
}

/**
 * A correlation of its own tells its answer from that of an earlier replay. Its progress would reach nobody, nor would
 * an answer in the blob store.
 */
function toReplay(
  { headers, ...message }: Envelope,
  { timeoutMs, behalf }: { readonly timeoutMs: number; readonly behalf: Readonly<Record<string, string>> },
): Envelope {
  // What a caller says of an operator must not count as this delegate's word.
  const { [Header.Progress]: _, [Header.AcceptBlob]: _blob, [Header.Operator]: _operator, ...kept } = headers;
  return { ...message, correlationId: newId(), headers: { ...kept, [Header.TimeoutMs]: String(timeoutMs), ...behalf } };
}
