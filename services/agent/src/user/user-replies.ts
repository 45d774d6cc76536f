import { hash } from "node:crypto";
import { type Bus, type Logger, UnroutableError } from "@rockbot/bus";
import { agentTopics, createEnvelope, encodeMessage, messages } from "@rockbot/contracts";
import { ownAddress } from "./reply-address.ts";
import type { SessionAddresses } from "./session-addresses.ts";

/** A reply to a user, before it is addressed. */
export interface UserReply {
  readonly topic: string;
  readonly sessionId: string;
  readonly content: string;
  /** The message's that it answers; undefined of one that nobody has asked for. */
  readonly correlationId: string | undefined;
  readonly isFinal: boolean;
  /** The same for the same reply, so that a peer can tell a repeat. @default a new one */
  readonly messageId?: string | undefined;
}

export interface UserRepliesOptions {
  /** The service, as the bus knows it. */
  readonly source: string;
  /** The agent, as users know it. */
  readonly agentName: string;
  readonly addresses: Pick<SessionAddresses, "get">;
  readonly log: Logger;
}

/** A program that comes back may have to declare its queue again. */
const OFFER_AGAIN_MS = 2_000;
/** An update on a turn that goes on is of no use later. */
const PROGRESS_TTL_MS = 60_000;

/** Replies to users over the bus, in the form of the .NET original. */
export class UserReplies {
  readonly #bus: Bus;
  readonly #options: UserRepliesOptions;

  constructor(bus: Bus, options: UserRepliesOptions) {
    this.#bus = bus;
    this.#options = options;
  }

  /** @returns whether somebody hears it: then the bus has it. @throws {BusUnavailableError} */
  async send({ topic, sessionId, content, correlationId, isFinal, messageId }: UserReply): Promise<boolean> {
    const { source, agentName, log } = this.#options;
    const text = content.trim() === "" ? "(no answer)" : content; // the original's programs refuse an empty one
    const body = encodeMessage("AgentReply", {
      content: text,
      sessionId,
      agentName,
      isFinal,
      structuredData: null,
      contentType: null,
    });
    const ttlMs = isFinal ? undefined : PROGRESS_TTL_MS;
    const envelope = createEnvelope({
      topic,
      type: messages.AgentReply.type,
      source,
      correlationId,
      body,
      ttlMs,
      ...(messageId === undefined ? {} : { messageId }),
    });
    try {
      await this.#bus.publish(envelope, isFinal ? { mandatory: true, offerAgainMs: OFFER_AGAIN_MS } : {});
      return true;
    } catch (error) {
      if (!(error instanceof UnroutableError)) throw error;
      log.info({ topic, sessionId }, "no program receives the replies of a session: its history has them");
      return false;
    }
  }

  /**
   * Sends what nobody has asked for to where the session's replies went last, or to the caller's usual topic.
   * @param turnId what the reply comes from: a second one from it is a repeat
   */
  async volunteer(caller: string, sessionId: string, turnId: string, content: string): Promise<void> {
    const { addresses, log } = this.#options;
    const last = await addresses
      .get(caller, sessionId)
      .catch((error: unknown) => log.warn({ reason: String(error) }, "could not read where replies of a session go"));
    const usual = this.#bus.traits.verifiesSender ? ownAddress(caller) : agentTopics.response;
    const reply = {
      sessionId,
      content,
      correlationId: undefined,
      isFinal: true,
      messageId: replyId(caller, sessionId, turnId),
    };
    const isHeard = await this.send({ ...reply, topic: last || usual });
    if (!isHeard && last && last !== usual) await this.send({ ...reply, topic: usual }); // that process may be gone
  }
}

/** The id of the last reply to a turn, however often it is sent. */
export const replyId = (caller: string, sessionId: string, turnId: string): string =>
  hash("sha256", JSON.stringify(["reply", caller, sessionId, turnId]), "hex").slice(0, 32);
