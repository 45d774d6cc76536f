import { pause, startLoop } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { decodeMessage, type Envelope, isBusAgentName } from "@rockbot/contracts";
import type { Identity } from "@rockbot/tools";
import { A2A_PINS, type PinMode, PinnedSources, type SourceState, type Trust } from "@rockbot/trust";
import type { AgentCard } from "../ask/agents/agent-card.ts";
import { BLIND, cardHandling, type ShownAgent, shownAgent } from "../ask/agents/agent-pool.ts";
import type { AnnouncedAgent } from "../ask/agents/known-agent.ts";
import { cardText, readAnnouncedCard } from "./announced-agent.ts";

export interface AnnouncedAgentsOptions {
  readonly identity: Pick<Identity, "senderOf">;
  readonly trust: Trust;
  readonly pin: PinMode;
  /** NAME=SENDER: who alone may announce that name. Case does not tell names apart. @default [] */
  readonly senders?: readonly string[] | undefined;
  /** True to ignore names that have no sender there. @default false */
  readonly isNamedOnly?: boolean | undefined;
  readonly onChange: () => void;
  readonly log: Logger;
  /** Unix milliseconds. @default Date.now */
  readonly clock?: (() => number) | undefined;
}

/** The most agents that are known at once. */
const MAX_AGENTS = 100;
/** The most names since the start: each has pins in the store. */
const MAX_NAMES = 500;
const MAX_CARD_BYTES = 256 * 1024;
/** Agents announce themselves every two minutes. One of which so many are missing is gone. */
const MAX_SILENCE_MS = 10 * 60_000;
const LOOK_MS = 30_000;
/** Between two looks at what has changed: a flood of cards costs no more. */
const SETTLE_MS = 100;
/** Cards come by themselves, so nothing is asked for. */
const REFRESH_MS = 3_600_000;
const PINS = `${A2A_PINS}bus:`;

/**
 * The agents that announce themselves on the bus, each with what is approved of its card. All that a card says is its
 * sender's own word. The first that announces a name has it until it takes the agent back or is silent for too long.
 * Cards of others under that name change nothing. An operator may say who has a name; then others never get it.
 */
export class AnnouncedAgents implements AsyncDisposable {
  readonly #options: AnnouncedAgentsOptions;
  readonly #clock: () => number;
  /** The agents by name in small letters. */
  readonly #agents = new Map<string, { readonly agent: AnnouncedAgent; seenAt: number }>();
  readonly #names = new Set<string>();
  /** Who may announce an agent, by its name in small letters. */
  readonly #senders: ReadonlyMap<string, readonly string[]>;
  readonly #cards: PinnedSources<AnnouncedAgent, AgentCard>;
  readonly #looking: AsyncDisposable;
  readonly #stop = new AbortController();
  #isChanged = false;
  #applying: Promise<void> | undefined;

  constructor(options: AnnouncedAgentsOptions) {
    const { trust, pin, senders = [], onChange, log, clock = Date.now } = options;
    this.#options = options;
    this.#clock = clock;
    const pairs = senders.map((pair) => pair.split("=") as [name: string, sender: string]);
    const byName = Map.groupBy(pairs, ([name]) => name.toLowerCase());
    this.#senders = new Map([...byName].map(([name, each]) => [name, each.map(([, sender]) => sender)]));
    this.#cards = new PinnedSources<AnnouncedAgent, AgentCard>({
      trust,
      pin,
      refreshMs: REFRESH_MS,
      prefix: PINS,
      onChange,
      read: async (agent) => ({ text: agent.text, parse: () => readAnnouncedCard(agent) }),
      ...cardHandling(log),
      onRead: ({ name, sender }, { skills }) =>
        log.info({ agent: name, sender, skills: skills.length }, "an agent has announced itself on the bus"),
    });
    this.#looking = startLoop(LOOK_MS, async () => this.#forgetSilent());
  }

  get all(): readonly ShownAgent[] {
    return this.#cards.all.flatMap((source) => {
      const known = this.#agents.get(source.from.name.toLowerCase());
      return known === undefined ? [] : [shownAgent({ ...source, from: known.agent, readAt: known.seenAt }, PINS)];
    });
  }

  /** How each agent stands, for operators. */
  get states(): readonly SourceState[] {
    return this.#cards.states("a2a", BLIND);
  }

  /** How many parts of cards wait for an operator. */
  get waiting(): number {
    return this.#cards.waiting;
  }

  /** Takes in an announcement. One that is of no use changes nothing. */
  take(message: Envelope): void {
    const { identity, log } = this.#options;
    const from = identity.senderOf(message);
    const decoded = message.body.byteLength > MAX_CARD_BYTES ? undefined : decodeMessage("AgentCard", message.body);
    if ("refusal" in from || decoded === undefined || !decoded.ok || !isBusAgentName(decoded.value.agentName)) {
      log.debug({ source: message.source }, "an announcement of an agent cannot be used");
      return;
    }
    const { agentName: name, isDeregistering } = decoded.value;
    const key = name.toLowerCase();
    if (!this.#mayAnnounce(key, from.name)) {
      log.debug({ agent: name, sender: from.name }, "the sender of an announcement may not have that name");
      return;
    }
    const known = this.#agents.get(key);
    if (known !== undefined && (known.agent.sender !== from.name || known.agent.name !== name)) {
      log.debug({ agent: name, sender: from.name }, "an agent on the bus has that name already");
      return;
    }
    if (isDeregistering === true) {
      if (this.#agents.delete(key)) this.#change();
      return;
    }
    if (known === undefined && !this.#hasRoomFor(key)) {
      log.debug({ agent: name }, "too many agents announce themselves");
      return;
    }
    const agent = { name, sender: from.name, text: cardText(decoded.value) };
    this.#agents.set(key, { agent, seenAt: this.#clock() });
    if (agent.text !== known?.agent.text) this.#change();
  }

  #mayAnnounce(key: string, sender: string): boolean {
    return this.#senders.get(key)?.includes(sender) ?? this.#options.isNamedOnly !== true;
  }

  #hasRoomFor(key: string): boolean {
    if (this.#agents.size >= MAX_AGENTS || (!this.#names.has(key) && this.#names.size >= MAX_NAMES)) return false;
    this.#names.add(key);
    return true;
  }

  #forgetSilent(): void {
    for (const [key, { seenAt }] of this.#agents) {
      if (this.#clock() - seenAt < MAX_SILENCE_MS) continue;
      this.#agents.delete(key);
      this.#change();
    }
  }

  /** Has the cards compared with what is approved, one round after the other. */
  #change(): void {
    this.#isChanged = true;
    this.#applying ??= this.#apply().finally(() => {
      this.#applying = undefined;
    });
  }

  async #apply(): Promise<void> {
    while (this.#isChanged && !this.#stop.signal.aborted) {
      this.#isChanged = false;
      await this.#cards.apply([...this.#agents.values()].map(({ agent }) => agent));
      this.#options.onChange();
      await pause(SETTLE_MS, this.#stop.signal);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#looking[Symbol.asyncDispose]();
    await this.#applying;
    await this.#cards[Symbol.asyncDispose]();
  }
}
