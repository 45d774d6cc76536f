import type { MemoryPage, MemoryText, SessionPage, OperatorSight as Sight, Transcript } from "@rockbot/console/api";
import {
  AGENT,
  AgentReading,
  type AgentReadingBody,
  ToolError,
  ToolErrorCode,
  tools,
  type WispList,
} from "@rockbot/contracts";
import type { ToolCaller } from "@rockbot/tools";
import type { Commander } from "@rockbot/tools/commands";
import type { Operator } from "../door/operator.ts";
import { HttpErrorCode } from "../http/http-error.ts";
import { checkSpeaksFor } from "./act-as-caller.ts";
import { type OperatorBindings, type OperatorHttpApp, OperatorSight } from "./operator.ts";
import { noSuchOperatorPath } from "./operator-routes.ts";

/** Where an operator reads what the agent keeps for a caller. */
export const AGENTS_PATH = "/operator/agents";

export interface AgentReaderParts {
  readonly caller: Pick<ToolCaller, "services" | "knownTools">;
  /** Gives services commands. @default there are none, and each request says what to set */
  readonly commander: Pick<Commander, "send"> | undefined;
}

/**
 * Asks all instances of the agent for what they keep: those without Redis have each their own.
 * @param by who reads, what of, for the agent's audit log, and `see`: called once it is known that somebody can be asked
 * @throws {ToolError} in words, if nobody can be asked or none could answer
 */
export type ReadAgent = (
  kind: string,
  body: AgentReadingBody,
  by: { readonly operator: string; readonly of: string; readonly see: () => Promise<void> },
) => Promise<{ readonly answers: Answers; readonly isPartial: boolean }>;

type Answers = readonly Readonly<Record<string, unknown>>[];

/** How long the instances have to answer, in milliseconds. */
const ANSWER_MS = 5_000;

export const agentReader =
  ({ caller, commander }: AgentReaderParts): ReadAgent =>
  async (kind, body, { operator, of, see }) => {
    if (commander === undefined)
      throw away("set OPERATOR_KEY of the gateway, and OPERATOR_PUBLIC_KEY of the agent, to a pair of keys");
    const name = caller.knownTools().find((tool) => tool.name === tools.agentChat.name)?.source ?? AGENT;
    const found = (await caller.services()).find(({ service, isServed }) => isServed && service === name);
    if (found === undefined) throw away("no agent runs. Set MODEL and MODEL_URL of it, and start it");
    const { service, instances } = found;
    await see();
    const command = { kind, service, operator, body: { ...body, asked: of } };
    const heard = await commander.send(command, { instances, timeoutMs: ANSWER_MS });
    const answers = heard.filter((answer) => !(answer instanceof ToolError));
    if (answers.length > 0) return { answers: answers as Answers, isPartial: heard.length < instances };
    throw heard.find((answer) => answer instanceof ToolError) ?? away("it did not answer in time. Try again");
  };

const away = (why: string): ToolError =>
  new ToolError(ToolErrorCode.Unavailable, `Cannot read what the agent keeps: ${why}`);

interface Reading {
  readonly kind: string;
  readonly sight: Sight;
  /** The part of the query that names what is read. */
  readonly of?: "session" | "key" | "prefix";
  readonly join: (answers: Answers) => object;
}

const readings: Readonly<Record<string, Reading>> = {
  sessions: { kind: AgentReading.Sessions, sight: OperatorSight.Transcripts, join: joinSessions },
  transcript: {
    kind: AgentReading.Transcript,
    sight: OperatorSight.Transcripts,
    of: "session",
    join: (all) => mostOf(all as unknown as Transcript[], ({ messages, turns }) => messages.length + turns.length),
  },
  wisps: {
    kind: AgentReading.Wisps,
    sight: OperatorSight.Memory,
    join: (all) => mostOf(all as unknown as WispList[], (list) => list.wisps.length),
  },
  memory: { kind: AgentReading.Memory, sight: OperatorSight.Memory, of: "prefix", join: joinMemory },
  "memory/text": {
    kind: AgentReading.MemoryText,
    sight: OperatorSight.Memory,
    of: "key",
    join: (all) => mostOf(all as unknown as MemoryText[], ({ storedAt }) => storedAt),
  },
};

/**
 * `GET /operator/agents/{caller}/…`: sessions, a transcript, working memory and saved wisps of a caller that the operator speaks
 * for. Each needs the sight of its kind, and leaves a line in the audit log before it is read.
 */
export function createAgentsApp(read: ReadAgent): OperatorHttpApp {
  return {
    async fetch(request, bindings) {
      const url = new URL(request.url);
      const [, caller = "", name = ""] = /^\/operator\/agents\/([^/]+)\/(.+)$/.exec(url.pathname) ?? [];
      const found = Object.hasOwn(readings, name) ? readings[name] : undefined;
      if (request.method !== "GET" || found === undefined) return noSuchOperatorPath();
      checkSpeaksFor(bindings.operator, caller, "read what is kept for");
      const body = bodyOf(caller, url.searchParams);
      const named = found.of === undefined ? undefined : body[found.of];
      if (named === undefined && (found.of === "session" || found.of === "key"))
        throw badRequest(`${found.of} is missing`);
      const of = [caller, named].filter((part) => part !== undefined && part !== "").join(": ");
      const see = () => mustSee(bindings, found.sight, of);
      const { answers, isPartial } = await read(found.kind, body, { operator: bindings.operator.name, of, see });
      return Response.json({ ...found.join(answers), isPartial });
    },
  };
}

const TEXTS = ["session", "prefix", "key", "cursor"] as const;
const MAX_TEXT = 1_024;

/** @throws {ToolError} in words, for a query that makes no sense */
function bodyOf(caller: string, query: URLSearchParams): AgentReadingBody {
  const body: Record<string, string | number> = {};
  for (const [name, value] of query) {
    const isText = TEXTS.some((each) => each === name);
    if (!isText && name !== "offset")
      throw badRequest(`${JSON.stringify(name.slice(0, 80))} is none of ${TEXTS.join(", ")}, offset`);
    if (Object.hasOwn(body, name)) throw badRequest(`${name} stands there more than once`);
    if (isText ? value.length > MAX_TEXT : !/^\d{1,9}$/.test(value))
      throw badRequest(isText ? `${name} has at most ${MAX_TEXT} characters` : "offset is a whole number from 0");
    body[name] = isText ? value : Number(value);
  }
  return { ...body, caller };
}

const badRequest = (why: string): ToolError =>
  new ToolError(HttpErrorCode.BadRequest, `Cannot read what the agent keeps: ${why}`);

/** @throws {ToolError} `denied`, in words */
async function mustSee(
  { operator, see }: Pick<OperatorBindings, "see"> & { operator: Operator },
  sight: Sight,
  of: string,
) {
  if (await see(sight, of)) return;
  throw new ToolError(
    ToolErrorCode.Denied,
    `Cannot read what the agent keeps: "${operator.name}" does not see ${sight}. The policy says what it may: "sees" of the operator`,
  );
}

/** A page of each instance as one page: no further than to the end of the shortest that goes on. */
function joinSessions(all: readonly object[]): SessionPage {
  const pages = all as readonly SessionPage[];
  const cursor = pages
    .flatMap((page) => page.cursor ?? [])
    .toSorted()
    .at(-1);
  const newest = new Map<string, SessionPage["sessions"][number]>();
  for (const one of pages.flatMap(({ sessions }) => sessions))
    if (one.at > (newest.get(one.session)?.at ?? -1)) newest.set(one.session, one);
  const sessions = [...newest.values()].toSorted((a, b) => b.at - a.at);
  const until = cursor === undefined ? -1 : Number.parseInt(cursor, 10);
  return { sessions: sessions.filter(({ at }) => at >= until), ...(cursor === undefined ? {} : { cursor }) };
}

function joinMemory(all: readonly object[]): MemoryPage {
  const pages = all as readonly MemoryPage[];
  const cursor = pages.flatMap((page) => page.cursor ?? []).toSorted()[0];
  const newest = new Map<string, MemoryPage["entries"][number]>();
  for (const one of pages.flatMap(({ entries }) => entries))
    if (one.storedAt > (newest.get(one.key)?.storedAt ?? -1)) newest.set(one.key, one);
  const entries = [...newest.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1));
  return {
    entries: cursor === undefined ? entries : entries.filter(({ key }) => key <= cursor),
    ...(cursor === undefined ? {} : { cursor }),
  };
}

/** The answer of the instance that has most. */
const mostOf = <T extends object>(answers: readonly T[], weight: (answer: T) => number): object =>
  answers.toSorted((a, b) => weight(b) - weight(a))[0] ?? {};
