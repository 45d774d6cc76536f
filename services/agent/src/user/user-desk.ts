import type { Agent, TurnPlace } from "@rockbot/agent";
import { unlessAborted } from "@rockbot/base";
import { type Bus, DeadLetterError, type Death, type Delivery, type Logger } from "@rockbot/bus";
import {
  AGENT_USER_SUBSCRIPTION,
  agentTopics,
  createEnvelope,
  type Decoded,
  decodeMessage,
  type Envelope,
  encodeMessage,
  messages,
  waitsMs,
} from "@rockbot/contracts";
import { callerOf, type Identity, METERED, type MessageMeter } from "@rockbot/tools";
import { lastTurns } from "./last-turns.ts";
import { replyAddress } from "./reply-address.ts";
import { ReplyOrder } from "./reply-order.ts";
import type { SessionAddresses } from "./session-addresses.ts";
import type { AskOptions, TurnAnswer, TurnCalls, TurnQuestion } from "./turn-calls.ts";
import { replyId, type UserReplies } from "./user-replies.ts";

export interface UserDeskOptions {
  readonly agent: Pick<Agent, "history" | "note" | "place" | "leave" | "isToBlame">;
  readonly turns: TurnCalls;
  readonly replies: UserReplies;
  readonly addresses: Pick<SessionAddresses, "set">;
  readonly identity: Pick<Identity, "senderOf">;
  readonly meter: Pick<MessageMeter, "take" | "takeExtra" | "drop">;
  /** The service, as the bus knows it. */
  readonly source: string;
  readonly turnTimeoutMs: number;
  readonly drainMs: number;
  readonly log: Logger;
}

/** Whose a message is, and where its replies go. */
interface Asked {
  readonly message: Envelope;
  readonly caller: string;
  readonly address: string;
  readonly delivery: Delivery;
  /** Why nothing is done, in words. */
  readonly refusal: string | undefined;
}

const HISTORY_TTL_MS = 60_000;
const TRY_AGAIN =
  "[The user marked your last answer as not helpful. Say in one sentence what may be wrong with it, and give a better one.]";

/**
 * Takes users' messages, feedback and questions for a session's history. Each message gets one final reply, in words if
 * nothing can be done. A message that names no topic of its sender is dead-lettered. Instances share the messages.
 */
export function openUserDesk(bus: Bus, options: UserDeskOptions): Promise<AsyncDisposable> {
  const desk = new UserDesk(bus, options);
  const topics = [agentTopics.message, agentTopics.feedback, agentTopics.historyRequest];
  return bus.subscribe(
    {
      name: AGENT_USER_SUBSCRIPTION,
      topics,
      drainMs: options.drainMs,
      // One process has them in the order in which they were sent, and gives their turns places in that order. Any
      // process runs the turns.
      prefersOldest: true,
      onDeadLetter: (message, death) => desk.giveUp(message, death),
      isToBlame: (message) => desk.isToBlame(message),
      ...METERED,
    },
    (message, delivery) => desk.take(message, delivery),
  );
}

class UserDesk {
  readonly #bus: Bus;
  readonly #options: UserDeskOptions;
  readonly #order = new ReplyOrder();

  constructor(bus: Bus, options: UserDeskOptions) {
    this.#bus = bus;
    this.#options = options;
  }

  async take(message: Envelope, delivery: Delivery): Promise<void> {
    const { identity, meter } = this.#options;
    const sender = identity.senderOf(message);
    const caller = callerOf(message, sender);
    // One that came before may have been taken, and one whose delivery is lost has been: neither is said not to be.
    const waitMs = delivery.isRedelivered ? undefined : meter.take("invoke", caller, message.body.byteLength);
    if (waitMs !== undefined && !meter.takeExtra("refusal", caller)) return meter.drop("invoke", caller);
    if (waitMs !== undefined && (await delivery.isOurs?.()) === false) return;
    const isKnown = !("refusal" in sender) || sender.mayHear !== undefined;
    const address = isKnown ? replyAddress(message, nameOf(message), this.#bus.traits) : undefined;
    if (address === undefined) {
      if (!meter.takeExtra("unanswerable", caller)) return meter.drop("unanswerable", caller);
      throw new DeadLetterError("the message names no topic that replies to its sender may go to");
    }
    const tooMany = waitMs === undefined ? undefined : `too many messages: try again in ${Math.ceil(waitMs / 1_000)} s`;
    const refusal = "refusal" in sender ? sender.refusal.message : tooMany;
    const asked: Asked = { message, caller, address, delivery, refusal };
    if (message.topic === agentTopics.historyRequest) return this.#tellHistory(asked);
    if (message.topic === agentTopics.feedback) return this.#takeFeedback(asked);
    return this.#answer(asked);
  }

  /** Answers a message that the bus has given up: agents have died over it. */
  async giveUp(message: Envelope, { reason }: Death): Promise<void> {
    const sender = this.#options.identity.senderOf(message);
    const address = replyAddress(message, nameOf(message), this.#bus.traits);
    if (message.topic !== agentTopics.message || "refusal" in sender || address === undefined || reason === "rejected")
      return;
    await this.#replyTo({ message, caller: callerOf(message, sender), address })(
      "I could not answer: I broke off over your message again and again.",
      true,
    );
  }

  /** Tells whether a message that crashed its agents again and again may be the cause. */
  async isToBlame(message: Envelope): Promise<boolean> {
    const decoded = decodeMessage("UserMessage", message.body);
    if (message.topic !== agentTopics.message || !decoded.ok) return true;
    const caller = callerOf(message, this.#options.identity.senderOf(message));
    return this.#options.agent.isToBlame({ caller, sessionId: decoded.value.sessionId, turnId: message.messageId });
  }

  /**
   * Says something to the sender of a message. An agent that dies between its answer and its acknowledgement leaves a
   * repeat: the same id tells.
   */
  #replyTo({
    message,
    caller,
    address: topic,
  }: Pick<Asked, "message" | "caller" | "address">): (content: string, isFinal: boolean) => Promise<void> {
    const { correlationId, messageId } = message;
    const sessionId = sessionIn(decodeMessage("UserMessage", message.body));
    const finalId = replyId(caller, sessionId, messageId);
    return async (content, isFinal) =>
      void (await this.#options.replies.send({
        topic,
        sessionId,
        content,
        correlationId,
        isFinal,
        messageId: isFinal ? finalId : undefined,
      }));
  }

  async #answer(asked: Asked): Promise<void> {
    const { addresses, turnTimeoutMs, log } = this.#options;
    const { message, caller, address, delivery } = asked;
    const decoded = decodeMessage("UserMessage", message.body);
    const reply = this.#replyTo(asked);
    const refusal = asked.refusal ?? faultOf(decoded);
    if (refusal !== undefined || !decoded.ok) return reply(`I could not take your message: ${refusal}`, true);
    const { sessionId, content } = decoded.value;
    const turn = { caller, sessionId, turnId: message.messageId };
    // Before anything is awaited: places are in the order of the messages.
    const placed = this.#place(turn);
    using replyPlace = this.#order.take(caller, sessionId);
    await addresses
      .set(caller, sessionId, address)
      .catch((error: unknown) => log.warn({ reason: String(error) }, "could not keep where replies of a session go"));
    await placed;
    const timeoutMs = Math.min(turnTimeoutMs, waitsMs(message) ?? turnTimeoutMs);
    const answer = await this.#ask(
      { ...turn, message: content },
      { timeoutMs, delivery, onStep: (words) => reply(words, false) },
    );
    if (answer === undefined) return;
    const { text, isAnswer } = answer;
    if (isAnswer) await unlessAborted(replyPlace.before, delivery.signal);
    await reply(text, true);
  }

  async #place(turn: TurnPlace): Promise<void> {
    const { agent, log } = this.#options;
    await agent
      .place(turn)
      .catch((error: unknown) =>
        log.debug({ reason: String(error) }, "could not give a turn its place: it takes one when it runs"),
      );
  }

  async #ask(question: TurnQuestion, options: AskOptions): Promise<TurnAnswer | undefined> {
    const { turns, agent } = this.#options;
    const answer = await turns.ask(question, options);
    if (answer?.isAnswer === false) await agent.leave(question).catch(() => {}); // it may never have run; else its place ends by itself
    return answer;
  }

  async #takeFeedback({ message, caller, delivery, refusal }: Asked): Promise<void> {
    const { agent, replies, turnTimeoutMs, log } = this.#options;
    const decoded = decodeMessage("UserFeedback", message.body);
    const fault = refusal ?? (decoded.ok ? undefined : decoded.fault.message);
    if (fault !== undefined || !decoded.ok)
      return log.warn({ caller, reason: fault }, "feedback of a user was not taken"); // nobody waits for an answer
    const { sessionId, messageId, isPositive } = decoded.value;
    const mark = isPositive ? "helpful" : "not helpful";
    if (isPositive)
      return agent.note(
        caller,
        sessionId,
        "system",
        `The user marked the reply ${JSON.stringify(messageId)} as ${mark}.`,
      );
    const history = await agent.history(caller, sessionId);
    if (!history.some(({ role }) => role === "user")) return; // there is nothing to do better
    const answer = await this.#ask(
      { caller, sessionId, turnId: message.messageId, message: TRY_AGAIN },
      { timeoutMs: turnTimeoutMs, delivery },
    );
    if (answer?.isAnswer) await replies.volunteer(caller, sessionId, message.messageId, answer.text);
  }

  async #tellHistory({ message, caller, address, refusal }: Asked): Promise<void> {
    const { agent, source, log } = this.#options;
    const decoded = decodeMessage("ConversationHistoryRequest", message.body);
    const fault = refusal ?? (decoded.ok ? undefined : decoded.fault.message);
    if (fault !== undefined)
      log.warn({ caller, reason: fault }, "a question for a session's history was not answered as asked");
    const turns = fault === undefined && decoded.ok ? await agent.history(caller, decoded.value.sessionId) : [];
    const body = encodeMessage("ConversationHistoryResponse", { turns: lastTurns(turns) });
    const { correlationId } = message;
    await this.#bus.publish(
      createEnvelope({
        topic: address,
        type: messages.ConversationHistoryResponse.type,
        source,
        correlationId,
        ttlMs: HISTORY_TTL_MS,
        body,
      }),
    );
  }
}

const nameOf = ({ userId, source }: Envelope): string => userId ?? source;

/** The session that a message is of, also if the message cannot be read otherwise. */
function sessionIn(decoded: Decoded<{ readonly sessionId: string }>): string {
  const { sessionId } = (decoded.ok ? decoded.value : (decoded.fault.value ?? {})) as { readonly sessionId?: unknown };
  return typeof sessionId === "string" ? sessionId.slice(0, 128) : "unknown";
}

function faultOf(decoded: Decoded<{ readonly content: string }>): string | undefined {
  if (!decoded.ok) return decoded.fault.message;
  return decoded.value.content.trim() === "" ? "it is empty" : undefined;
}
