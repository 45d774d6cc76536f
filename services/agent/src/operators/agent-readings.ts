import type { Agent, FamilySession, RecordStore } from "@rockbot/agent";
import {
  AgentReading,
  type AgentReadingBody,
  type MemoryFacts,
  type MemoryPage,
  type MemoryText,
  type SessionPage,
  ToolError,
  ToolErrorCode,
  type Transcript,
  type WispList,
} from "@rockbot/contracts";
import type { MemoryEntryInfo, WorkingMemory } from "@rockbot/memory";
import { StoreUnavailableError } from "@rockbot/records";
import type { CommandHandler } from "@rockbot/tools/commands";
import type { KeptWisp } from "@rockbot/wisps";

export interface AgentReadingsParts {
  readonly agent: Pick<Agent, "sessions" | "history" | "family">;
  readonly memory: Pick<WorkingMemory, "of">;
  /** The saved wisps. @default there are none */
  readonly wisps: Pick<RecordStore<KeptWisp>, "visibleTo"> | undefined;
}

const MAX_SESSIONS = 50;
const MAX_ENTRIES = 100;
/** A message, and a part of a text of working memory, has at most so many characters. */
const MAX_CHARS = 16_000;
const MAX_TURNS = 500;
const MAX_WISPS = 100;

/**
 * Shows operators what is kept for a caller. The gateway has checked that the operator may see it, and signed that. No
 * tool does this, and nothing runs as the caller.
 */
export function agentReadings({ agent, memory, wisps }: AgentReadingsParts): Readonly<Record<string, CommandHandler>> {
  return {
    [AgentReading.Sessions]: reading(async ({ caller, cursor }): Promise<SessionPage> => {
      const all = (await agent.sessions(caller)).map(({ sessionId: session, at, said, isUntrusted = false }) => ({
        session,
        at,
        said,
        isUntrusted,
      }));
      const rest = cursor === undefined ? all : all.filter((each) => sessionPlace(each) < cursor);
      const sessions = rest.toSorted((a, b) => (sessionPlace(a) < sessionPlace(b) ? 1 : -1)).slice(0, MAX_SESSIONS);
      const last = sessions.at(-1);
      return { sessions, ...(sessions.length < rest.length && last ? { cursor: sessionPlace(last) } : {}) };
    }),
    [AgentReading.Transcript]: reading(async ({ caller, session = "" }): Promise<Transcript> => {
      const messages = await agent.history(caller, session);
      const turns = (await agent.family(caller, session)).flatMap((turn) => turnsOf(turn));
      return {
        messages: messages.map(({ role, origin, at, content, isUntrusted = false }) => ({
          role,
          ...(origin === undefined ? {} : { origin }),
          at,
          text: content.slice(0, MAX_CHARS).toWellFormed(),
          isCut: content.length > MAX_CHARS,
          length: content.length,
          isUntrusted,
        })),
        turns: turns.slice(-MAX_TURNS),
        more: Math.max(0, turns.length - MAX_TURNS),
      };
    }),
    [AgentReading.Memory]: reading(async ({ caller, prefix = "", cursor = "" }): Promise<MemoryPage> => {
      const all = (await memory.of(caller).list(prefix)).filter(({ key }) => key > cursor);
      const entries = all
        .toSorted((a, b) => (a.key < b.key ? -1 : 1))
        .slice(0, MAX_ENTRIES)
        .map(factsOf);
      const last = entries.at(-1);
      return { entries, ...(entries.length < all.length && last ? { cursor: last.key } : {}) };
    }),
    [AgentReading.MemoryText]: reading(async ({ caller, key = "", offset = 0 }): Promise<MemoryText> => {
      const part = await memory.of(caller).read(key, { offset, length: MAX_CHARS });
      if (part === undefined)
        throw new ToolError(ToolErrorCode.InvalidArguments, "Nothing is kept under this key. It may have expired");
      const { text, nextOffset } = part;
      const next = nextOffset === undefined ? {} : { next: nextOffset };
      return { ...factsOf(part), text: text.toWellFormed(), offset, ...next };
    }),
    [AgentReading.Wisps]: reading(async ({ caller }): Promise<WispList> => {
      const all = (await wisps?.visibleTo(caller)) ?? [];
      const shown = all
        .slice(0, MAX_WISPS)
        .map(({ name, version, definition: { description }, maker, isUntrusted }) => ({
          name,
          version,
          description,
          isOwn: maker === caller,
          isUntrusted,
        }));
      return { wisps: shown, more: all.length - shown.length };
    }),
  };
}

/** Sorts as the times do, until the year 2286, and tells sessions of one moment apart. */
const sessionPlace = ({ at, session }: { readonly at: number; readonly session: string }): string =>
  `${String(at).padStart(13, "0")}~${session}`;

const reading =
  (read: (body: AgentReadingBody) => Promise<object>): CommandHandler =>
  async (body) => {
    try {
      return await read(body as unknown as AgentReadingBody); // the gateway has checked and signed it
    } catch (error) {
      if (error instanceof StoreUnavailableError)
        throw new ToolError(
          ToolErrorCode.Unavailable,
          "Cannot read what the agent keeps: its store does not answer. Try again later",
          { cause: error },
        );
      if (error instanceof RangeError) throw new ToolError(ToolErrorCode.InvalidArguments, error.message);
      throw error;
    }
  };

const factsOf = ({
  key,
  length,
  storedAt,
  expiresAt,
  category,
  tags,
  isUntrusted,
  origin,
}: MemoryEntryInfo): MemoryFacts => ({
  key,
  length,
  storedAt,
  expiresAt,
  ...(category === undefined ? {} : { category }),
  tags,
  isUntrusted,
  ...(origin === undefined ? {} : { origin }),
});

function turnsOf(of: FamilySession, depth = 0): Transcript["turns"] {
  const { turnId: turn, sessionId: session, agent, state, finish, startedAt, endedAt, calls, children } = of;
  const own = {
    turn,
    session,
    depth,
    ...(agent === undefined ? {} : { agent }),
    state,
    ...(finish === undefined ? {} : { finish }),
    startedAt,
    ...(endedAt === undefined ? {} : { endedAt }),
    calls: calls.reduce((sum, { count }) => sum + count, 0),
    failed: calls.reduce((sum, { failed }) => sum + failed, 0),
  };
  return [own, ...children.flatMap((child) => turnsOf(child, depth + 1))];
}
