import type { Logger } from "@rockbot/bus";
import { type ContentTrust, definedBy, namesHelp, saidBy, ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { PublicFetch } from "@rockbot/edge/outbound";
import {
  A2A_PINS,
  type HeldTool,
  heldError,
  type PinMode,
  type PinnedSource,
  PinnedSources,
  type SourceState,
  type Trust,
  whyHeld,
} from "@rockbot/trust";
import { type AgentCard, CARD_PIN, pinnedParts, readAgentCard, skillPin } from "./agent-card.ts";
import { fetchCard } from "./fetch-card.ts";
import type { AnnouncedAgent, KnownAgent } from "./known-agent.ts";

export interface AgentPoolOptions {
  readonly fetch: PublicFetch;
  readonly trust: Trust;
  readonly pin: PinMode;
  readonly refreshMs: number;
  readonly onChange: () => void;
  readonly log: Logger;
}

/** An agent with what is approved of its card. */
export interface ReadyAgent<Agent extends KnownAgent | AnnouncedAgent = KnownAgent | AnnouncedAgent> {
  readonly agent: Agent;
  readonly card: AgentCard;
  /** Whose words the card is, and whether they are approved. */
  readonly trust: ContentTrust;
}

/** An agent as models see it. */
export interface ShownAgent {
  readonly name: string;
  readonly agent: KnownAgent | AnnouncedAgent;
  /** What is approved of its card; undefined if it cannot be called now. */
  readonly card: AgentCard | undefined;
  /** Why it cannot be called now. */
  readonly off: ToolError | undefined;
  /** Whose words its card is, and whether they are approved. */
  readonly trust: NonNullable<ContentTrust>;
  /** When its card was read last, as `Date.now()`. */
  readonly readAt: number | undefined;
}

/** The agents that can be called, of one kind or of all. */
export interface AgentList {
  readonly all: readonly ShownAgent[];
}

/**
 * The agents of the operator's file, each with what is approved of its card. Cards are read again from time to time.
 */
export class AgentPool implements AsyncDisposable {
  readonly #sources: PinnedSources<KnownAgent, AgentCard>;

  constructor({ fetch, onChange, log, ...options }: AgentPoolOptions) {
    this.#sources = new PinnedSources<KnownAgent, AgentCard>({
      ...options,
      prefix: A2A_PINS,
      onChange,
      read: async (agent, signal) => {
        const text = await fetchCard(agent.cardUrl, fetch, signal);
        return { text, parse: () => readAgentCard(text, agent) };
      },
      ...cardHandling(log),
      onRead: ({ name }, { skills }) => log.info({ agent: name, skills: skills.length }, "read the card of an agent"),
    });
  }

  /** Goes by what the file says now. Resolves once each card was read, or could not be. */
  apply(agents: readonly KnownAgent[]): Promise<void> {
    return this.#sources.apply(agents);
  }

  get all(): readonly ShownAgent[] {
    return this.#sources.all.map((source) => shownAgent(source, A2A_PINS));
  }

  /** Cards that could not be used the last time, and why. */
  get faults(): readonly { readonly name: string; readonly why: string }[] {
    return this.#sources.faults(BLIND);
  }

  /** How each agent stands, for operators. */
  get states(): readonly SourceState[] {
    return this.#sources.states("a2a", BLIND);
  }

  /** How many parts of cards wait for an operator. */
  get waiting(): number {
    return this.#sources.waiting;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sources[Symbol.asyncDispose]();
  }
}

/** Why an agent stands still if only the store keeps it back. */
export const BLIND = "the approvals of its card cannot be read";

/** What is pinned of cards, wherever they come from, and what the log says of them. */
export const cardHandling = (log: Logger) => ({
  partsOf: pinnedParts,
  onFault: ({ name }: { readonly name: string }, reason: string) =>
    log.warn({ agent: name, reason }, "could not use the card of an agent, and keeps what it knows of it"),
  onHeld: (agent: { readonly name: string }, { name, reason, suspicions }: HeldTool) =>
    log.warn(
      { agent: agent.name, part: name, reason, suspicions },
      'holds a part of the card of an agent until an operator runs "rockbot mcp approve"',
    ),
  onError: ({ name }: { readonly name: string }, error: unknown) =>
    log.error({ agent: name, error }, "could not work on the card of an agent"),
});

/** The agent of exactly that name, ready to be called. @throws {ToolError} that says why it is not */
export function readyAgent(all: readonly ShownAgent[], name: string): ReadyAgent {
  // Exactly: a policy compares names of agents, too.
  const found = all.find((each) => each.name === name);
  const names = all.map((each) => each.name);
  if (found === undefined)
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      `There is no agent ${JSON.stringify(name)}. ${namesHelp(name, names)}`,
      {
        details: { mayHaveRun: false },
      },
    );
  if (found.card === undefined) throw found.off as ToolError;
  return { agent: found.agent, card: found.card, trust: found.trust };
}

/** @param pins how the names begin under which its parts are pinned */
export function shownAgent<Agent extends KnownAgent | AnnouncedAgent>(
  source: PinnedSource<Agent, AgentCard>,
  pins: string,
): ShownAgent {
  const { from: agent, content, offered, approved, held, fault, isBlind, readAt } = source;
  const isReady = content !== undefined && offered.has(CARD_PIN);
  const card = isReady
    ? { ...content, skills: content.skills.filter(({ id }) => offered.has(skillPin(id))) }
    : undefined;
  const why = isBlind ? "the approvals of its card cannot be read now" : (fault ?? "its card is still being read");
  const heldCard = held.find(({ name }) => name === CARD_PIN);
  const off = isReady
    ? undefined
    : heldCard === undefined
      ? unread(agent.name, why, isBlind || fault === undefined ? undefined : saidBy(`${pins}${agent.name}`))
      : heldCardError(agent.name, heldCard);
  const isApproved = [...offered].every((name) => approved.has(name));
  return { name: agent.name, agent, card, off, trust: definedBy(`${pins}${agent.name}`, isApproved), readAt };
}

const unread = (name: string, why: string, trust: ContentTrust | undefined): ToolError =>
  new ToolError(
    ToolErrorCode.Unavailable,
    `The agent "${name}" cannot be called: ${why.slice(0, 500)}. Nothing was sent. Try again later, or do without it.`,
    {
      details: { mayHaveRun: false },
      trust,
    },
  );

const heldCardError = (name: string, held: HeldTool): ToolError =>
  heldError(held, {
    what: `The agent "${name}"`,
    why: `its card is not approved, as ${whyHeld(held)}`,
    refused: "its card",
    undone: "Nothing was sent.",
  });
