import { type AgentInterface, AgentCard as CardMessage, type AgentCard as SdkCard } from "@a2a-js/sdk";
import { DefaultAgentCardResolver } from "@a2a-js/sdk/client";
import { isRecord } from "@rockbot/base";
import { parseJson, visibleText } from "@rockbot/contracts";
import type { SeenTool } from "@rockbot/trust";
import { type AnnouncedAgent, isAnnounced, type KnownAgent } from "./known-agent.ts";

/** One skill, in the agent's own words. */
export interface AgentSkill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly examples: readonly string[];
}

/** What counts of a card. All texts are a stranger's, without characters that people do not see. */
export interface AgentCard {
  readonly name: string;
  readonly description: string;
  readonly skills: readonly AgentSkill[];
  /** The interfaces that can be used: their binding and version are the SDK's, and their origin is permitted. */
  readonly interfaces: readonly AgentInterface[];
  readonly isStreaming: boolean;
}

const MAX_SKILLS = 200;
const MAX_NAME = 256;
const MAX_TEXT = 8_192;
const MAX_LISTED = 50;
const MAX_INTERFACES = 20;
const BINDINGS: ReadonlySet<string> = new Set(["JSONRPC", "HTTP+JSON"]);
/** Under which the agent itself is pinned. Skills are pinned under `skill:` and their ids. */
export const CARD_PIN = "card";
export const skillPin = (id: string): string => `skill:${id}`;

/** Translates cards of A2A 0.3, too. */
const resolver = new DefaultAgentCardResolver({ legacyCompat: { enabled: true } });

/** @throws {Error} that says in words why it cannot be used */
export function readAgentCard(text: string, { origins }: Pick<KnownAgent, "origins">): AgentCard {
  const parsed = parseJson(text);
  if (!parsed.ok) throw new Error(`it is ${parsed.fault.message}`);
  if (!isRecord(parsed.value)) throw new Error("it is not a JSON object");
  const card = sdkCard(parsed.value);
  if (card.name === "") throw new Error("it is not an A2A card: it has no name");
  const required = (card.capabilities?.extensions ?? [])
    .filter((extension) => extension.required)
    .map(({ uri }) => line(uri));
  if (required.length > 0)
    throw new Error(`it requires extensions that this service does not have: ${required.slice(0, 5).join(", ")}`);
  const interfaces = usable(card.supportedInterfaces.slice(0, MAX_INTERFACES), origins);
  return {
    name: line(card.name),
    description: words(card.description),
    skills: skillsOf(card.skills),
    interfaces,
    isStreaming: card.capabilities?.streaming === true,
  };
}

/** A skill as a card says it. */
interface SaidSkill {
  readonly id: string;
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly tags?: readonly string[] | null | undefined;
  readonly examples?: readonly string[] | null | undefined;
}

/** What counts of a card's skills: of two with one id the later. */
export function skillsOf(said: readonly SaidSkill[]): AgentSkill[] {
  const skills = said
    .slice(0, MAX_SKILLS)
    .flatMap(({ id, name, description, tags, examples }): [string, AgentSkill][] => {
      const skillId = line(id);
      if (skillId === "") return [];
      const lists = {
        tags: (tags ?? []).slice(0, MAX_LISTED).map(line),
        examples: (examples ?? []).slice(0, MAX_LISTED).map(words),
      };
      return [[skillId, { id: skillId, name: line(name), description: words(description ?? ""), ...lists }]];
    });
  return [...new Map(skills).values()];
}

/** The resolver leaves a card of 1.0 as it came: `fromJSON` gives each field its type. */
function sdkCard(value: Record<string, unknown>): SdkCard {
  try {
    const normalized = resolver.normalizeAgentCard(value);
    return (normalized as unknown) === value ? CardMessage.fromJSON(value) : normalized;
  } catch {
    throw new Error("it is not an A2A card");
  }
}

/** @throws {Error} if none can be used */
function usable(interfaces: readonly AgentInterface[], origins: ReadonlySet<string>): AgentInterface[] {
  if (interfaces.length === 0) throw new Error("it names no interface");
  const elsewhere = new Set<string>();
  const spoken = interfaces.filter(
    ({ protocolBinding, protocolVersion }) =>
      BINDINGS.has(protocolBinding.toUpperCase()) && /^(1\.\d+|0\.3(\.\d+)?)$/.test(protocolVersion || "1.0"),
  );
  if (spoken.length === 0) throw new Error("it has no interface of JSON-RPC or HTTP+JSON, of A2A 1 or 0.3");
  const here = spoken.filter(({ url }) => {
    const at = URL.parse(url);
    const isOurs = at !== null && at.username === "" && at.password === "" && origins.has(at.origin);
    if (!isOurs) elsewhere.add(line(at?.origin ?? url));
    return isOurs;
  });
  if (here.length === 0)
    throw new Error(
      `it says that the agent is called at another origin: ${[...elsewhere].slice(0, 5).join(", ")}. If that is right, an operator adds the origin to "origins" of the agent in the file`,
    );
  return here;
}

/** What is pinned of it: the agent first, then each skill. */
export function pinnedParts({ name, description, interfaces, isStreaming, skills }: AgentCard): readonly SeenTool[] {
  const places = interfaces.map(({ url, protocolBinding, protocolVersion, tenant }) => ({
    url,
    protocolBinding,
    protocolVersion,
    tenant,
  }));
  return [
    {
      name: CARD_PIN,
      description,
      inputSchema: { agent: name, interfaces: places, streaming: isStreaming },
      annotations: {},
    },
    ...skills.map((skill) => ({
      name: skillPin(skill.id),
      description: skill.description,
      inputSchema: { name: skill.name, tags: skill.tags, examples: skill.examples },
      annotations: {},
    })),
  ];
}

/** A stranger's text, without characters that people do not see. */
export const words = (text: string): string => visibleText(String(text)).trim().slice(0, MAX_TEXT).toWellFormed();
/** The same in one short line. */
export const line = (text: string): string =>
  visibleText(String(text)).replaceAll(/\s+/g, " ").trim().slice(0, MAX_NAME).toWellFormed();

/** Where the agent is, for people. */
export const placeOf = ({
  agent,
  card,
}: {
  readonly agent: KnownAgent | AnnouncedAgent;
  readonly card: AgentCard;
}): string => (isAnnounced(agent) ? `the bus, as ${agent.name}` : (card.interfaces[0]?.url ?? agent.cardUrl));
