import { metrics } from "@opentelemetry/api";
import type { Bus } from "@rockbot/bus";
import {
  type Envelope,
  Header,
  isPeerName,
  isReplyTopic,
  isReplyTopicOf,
  replyRoots,
  ToolError,
  ToolErrorCode,
} from "@rockbot/contracts";
import { defaultPolicySource, type Peers, type PolicyHolder, peersOf } from "@rockbot/policy";

/** The sender of a message. */
export interface Sender {
  /** As the bus verified it, or, on one that verifies nobody and for legacy peers, as the message says. */
  readonly name: string;
  /** On whose behalf the message was sent. */
  readonly caller: string;
  /** The operator who acts as the caller, as a delegate says. */
  readonly operator?: string | undefined;
  /** Tells whether answers to the sender may go to this topic. */
  mayHear(topic: string): boolean;
}

/** Kinds of messages that can come from a sender other than the right one. */
export type ForgedKind = "result" | "progress" | "announcement" | "parked" | "command";

/** Tells who messages are from, by what the bus verifies and what the policy says of those users. */
export interface Identity {
  /**
   * The sender of a request or a cancel.
   * @returns why nobody is believed to be it; the sender may learn that only if `name` is known
   */
  senderOf(message: Envelope): Sender | Stranger;
  /** Tells whether the message is from the service; a message of another sender counts as forged. */
  isFrom(service: string, message: Envelope, kind: ForgedKind): boolean;
  /** The same, where only the tool is known: a result that was left for a restarted caller. */
  mayAnswer(toolName: string, message: Envelope): boolean;
  /** Counts a message that is not from whom it should be. */
  forged(kind: ForgedKind): void;
  /** Tells whether the service may offer the tool on its topic. */
  mayOffer(service: string, tool: { readonly name: string; readonly topic: string }): boolean;
  /**
   * The caller that this process is when it calls for itself as `agent`.
   * @throws {RangeError} if the bus knows it as somebody else
   */
  callerNamed(agent: string): string;
}

/** A sender whose message asks for more than it may. */
export interface Stranger {
  readonly refusal: ToolError;
  /** The topics on which the refusal may go to it; undefined if nobody knows the sender. */
  readonly mayHear: Sender["mayHear"] | undefined;
}

/**
 * Whose message it is, as far as anybody knows: what is counted and noted of a stranger is of the name that it sends
 * under.
 */
export const callerOf = (message: Envelope, sender: Sender | Stranger): string =>
  "refusal" in sender ? (message.userId ?? message.source) : sender.caller;

/** Without a policy the gateway and the operator are the only delegates, and services send under their own names. */
export function createIdentity(
  { traits }: Pick<Bus, "traits">,
  policy: Pick<PolicyHolder, "current"> | undefined,
): Identity {
  const peers = (): Peers => (policy === undefined ? peersWithoutPolicy : peersOf(policy.current().document));
  const forged = metrics.getMeter("@rockbot/tools").createCounter("rockbot.tool.messages.forged", {
    description: "Messages dropped because of a wrong sender, by kind.",
  });

  /** Undefined if the bus verifies senders, and this one is neither verified nor excused. */
  function nameOf({ userId, source }: Envelope): string | undefined {
    if (!traits.verifiesSender) return userId ?? source;
    return userId ?? (peers().isLegacy(source) ? source : undefined);
  }

  function hearing(name: string, isVerified: boolean): Sender["mayHear"] {
    if (!traits.verifiesSender) return isReplyTopic;
    // Requests of the original may name no topic of their own: answers to all of them share one.
    return (topic) => isReplyTopicOf(name, topic) || (!isVerified && replyRoots.includes(topic));
  }

  /** Like the effective caller, it is believed of delegates, and of nobody else. */
  function actingFor(name: string, { headers }: Envelope): Pick<Sender, "operator"> {
    const operator = headers[Header.Operator];
    return operator !== undefined && isPeerName(operator) && peers().isDelegate(name) ? { operator } : {};
  }

  return {
    senderOf(message) {
      const name = nameOf(message);
      if (name === undefined)
        return { refusal: refused("it names no sender that the bus has verified"), mayHear: undefined };
      const mayHear = hearing(name, message.userId !== undefined);
      const behalf = message.headers[Header.OnBehalfOf];
      if (behalf === undefined) {
        const caller = traits.verifiesSender ? peers().callerOf(name) : name;
        return caller === undefined
          ? { refusal: refused(`the user "${name}" is not the caller of that name`), mayHear }
          : { name, caller, mayHear, ...actingFor(name, message) };
      }
      if (!peers().isDelegate(name)) return { refusal: refused(`"${name}" may not call on behalf of others`), mayHear };
      if (!isPeerName(behalf))
        return { refusal: refused("the name of the caller that it acts for is not valid"), mayHear };
      if (!peers().mayCallFor(name, behalf))
        return {
          refusal: refused(`"${name}" may not call on behalf of "${behalf}": the policy lets it do so for others only`),
          mayHear,
        };
      return { name, caller: behalf, mayHear, ...actingFor(name, message) };
    },
    isFrom(service, message, kind) {
      if (!traits.verifiesSender) return true;
      const user = peers().userOf(service);
      if (user !== undefined && nameOf(message) === user) return true;
      forged.add(1, { kind });
      return false;
    },
    mayAnswer(toolName, message) {
      if (!traits.verifiesSender) return true;
      const name = nameOf(message);
      if (name !== undefined && peers().mayAnswer(name, toolName)) return true;
      forged.add(1, { kind: "result" });
      return false;
    },
    forged: (kind) => forged.add(1, { kind }),
    mayOffer: (service, tool) => !traits.verifiesSender || peers().mayOffer(service, tool),
    callerNamed(agent) {
      if (!traits.verifiesSender) return agent;
      if (traits.user !== agent)
        throw new RangeError(
          `Cannot call as "${agent}": the bus knows this process as "${traits.user}", and takes answers for that name only`,
        );
      return peers().callerOf(agent) ?? agent;
    },
  };
}

const peersWithoutPolicy = peersOf(defaultPolicySource().document);

const refused = (why: string): ToolError => new ToolError(ToolErrorCode.Denied, `Cannot take the request: ${why}`);
