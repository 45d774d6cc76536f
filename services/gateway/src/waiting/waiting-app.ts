import { isRecord } from "@rockbot/base";
import { type Logger, silentLogger } from "@rockbot/bus";
import type { WaitingCalls as ShownCalls, WaitingCall } from "@rockbot/console/api";
import { hasReadUntrusted, ToolError, withHiddenShown } from "@rockbot/contracts";
import { digestOf } from "@rockbot/records/journal";
import { isAsked, MAX_NOTE, type Run } from "@rockbot/runs";
import type { CodeRefusal } from "../door/decision-code.ts";
import { type OperatorBindings, type OperatorHttpApp, OperatorSight } from "../operators/operator.ts";
import { noSuchOperatorPath } from "../operators/operator-routes.ts";
import { NotWaitingError, StaleDecisionError, shownHash, type WaitingCalls } from "./waiting-calls.ts";

/** Where an operator reads the calls that wait for people, and decides. */
export const WAITING_PATH = "/operator/waiting";

const MAX_BODY = 16 * 1024;
/** A list has so many bytes of arguments. A further call is shown whole by itself only. */
const MAX_LISTED_BYTES = 4 * 1024 * 1024;

const NOT_SHOWN =
  'the operator of "rockbot up" decides by a code that it prints at a terminal, and it runs without one. Start it at a terminal, or name operators with tokens in the policy, who decide without a code';
const CODES: Readonly<Record<CodeRefusal, string>> = {
  missing: 'Cannot decide without the code that "rockbot up" has printed at its terminal, beside the console',
  wrong: 'Cannot decide: this is not the code that "rockbot up" has printed at its terminal',
  locked: "Cannot decide: there were five wrong codes. No code counts for a minute",
  "not-shown": `Cannot decide: ${NOT_SHOWN}`,
};

export interface WaitingAppOptions {
  /** Told of decisions with a wrong code. */
  readonly log?: Logger | undefined;
}

/**
 * The requests about calls that wait. An operator sees the arguments of calls that ask it: it could not decide without.
 * It sees those of other calls if its `sees` says so, and a hash else.
 */
export const createWaitingApp = (
  waiting: WaitingCalls,
  { log = silentLogger }: WaitingAppOptions = {},
): OperatorHttpApp => ({
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    const asked = `${request.method} ${pathname.slice(WAITING_PATH.length) === "" ? "all" : "one"}`;
    const id = pathname.slice(WAITING_PATH.length + 1);
    try {
      if (asked === "GET all") return Response.json(await listed(waiting, env));
      if (asked === "GET one") return Response.json(await shown(waiting, await waiting.find(id), env));
      if (asked === "POST one") return await decide(waiting, id, { text: await request.text(), env, log });
      return noSuchOperatorPath();
    } catch (error) {
      if (error instanceof NotWaitingError) return refusal(error.message, 404);
      if (error instanceof StaleDecisionError) return refusal(error.message, 409);
      if (error instanceof ToolError) return refusal(error.message, 503);
      throw error;
    }
  },
});

async function listed(waiting: WaitingCalls, env: OperatorBindings): Promise<ShownCalls> {
  const { runs, more, problems } = await waiting.list();
  let bytes = 0;
  const isListed = (run: Run): boolean => {
    if (!mayRead(run, env)) return false;
    bytes += Buffer.byteLength(run.approval?.arguments ?? "");
    return bytes <= MAX_LISTED_BYTES;
  };
  const readable = new Set(runs.filter(isListed));
  const isSeen = readable.size > 0 && (await env.see("arguments", "calls that wait", true));
  return {
    calls: runs.map((run) => described(waiting, run, { env, isSeen: isSeen && readable.has(run) })),
    more,
    problems,
    needsCode: env.operator.decisionCode !== undefined,
  };
}

async function shown(waiting: WaitingCalls, run: Run, env: OperatorBindings): Promise<WaitingCall> {
  const isSeen = mayRead(run, env) && (await env.see("arguments", run.toolCallId, true));
  return described(waiting, run, { env, isSeen });
}

const mayRead = ({ approval }: Run, { operator }: OperatorBindings): boolean =>
  operator.sees.has(OperatorSight.Arguments) || (approval !== undefined && isAsked(approval, operator.name));

function described(
  waiting: WaitingCalls,
  run: Run,
  { env: { operator }, isSeen }: { readonly env: OperatorBindings; readonly isSeen: boolean },
): WaitingCall {
  const { runId, service, caller, toolCallId, toolName, message, createdAt, expiresAt, isKept } = run;
  const text = run.approval?.arguments ?? "";
  const visible = withHiddenShown(text);
  return {
    id: runId,
    service,
    caller,
    toolCallId,
    tool: toolName,
    ...(run.operator === undefined ? {} : { operator: run.operator }),
    given: digestOf(text, caller),
    ...(isSeen ? { arguments: text, shown: shownHash(run) } : {}),
    ...(isSeen && visible !== text ? { visible } : {}),
    asked: run.approval?.asked ?? [],
    decisions: waiting.decisionsOf(run).map(({ operator: by, verdict, at, note }) => ({
      operator: by,
      verdict,
      at,
      ...(note === undefined ? {} : { note }),
    })),
    createdAt,
    expiresAt,
    isKept,
    hasReadUntrusted: hasReadUntrusted(message),
    mayDecide: waiting.whyNot(run, operator.name) ?? (operator.decisionCode?.isShown === false ? NOT_SHOWN : true),
  };
}

async function decide(
  waiting: WaitingCalls,
  id: string,
  { text, env: { operator }, log }: { readonly text: string; readonly env: OperatorBindings; readonly log: Logger },
): Promise<Response> {
  const asked = readDecision(text);
  if (typeof asked === "string") return refusal(`Cannot decide: ${asked}`, 400);
  const { verdict, note, code, shown: seen } = asked;
  const run = await waiting.find(id);
  const why = waiting.whyNot(run, operator.name);
  if (why !== undefined) return refusal(`Cannot decide: ${why}`, 403);
  if (seen !== shownHash(run))
    return refusal("Cannot decide: the call is not any more as it was shown. Read it again", 409);
  const refused = operator.decisionCode?.refuse(code);
  if (refused === "wrong" || refused === "locked")
    log.warn({ operator: operator.name, runId: id, refused }, "a decision came with a wrong code");
  if (refused !== undefined)
    return Response.json({ message: CODES[refused], needsCode: refused !== "not-shown" }, { status: 403 });
  return Response.json({ state: await waiting.decide(run, { operator: operator.name, verdict, note }) });
}

interface AskedDecision {
  readonly verdict: "approve" | "reject";
  readonly shown: string;
  readonly note?: string | undefined;
  readonly code?: string | undefined;
}

/** @returns what is wrong with it, in words */
function readDecision(text: string): AskedDecision | string {
  let body: unknown;
  try {
    body = text.length > MAX_BODY ? undefined : JSON.parse(text);
  } catch {}
  if (!isRecord(body)) return `the body is a JSON object of at most ${MAX_BODY} characters`;
  const { verdict, shown: seen, note, code } = body;
  if (verdict !== "approve" && verdict !== "reject") return 'verdict is "approve" or "reject"';
  if (typeof seen !== "string") return "shown is that of the call as GET gave it";
  if (note !== undefined && (typeof note !== "string" || note.length > MAX_NOTE))
    return `note is a text of at most ${MAX_NOTE} characters`;
  if (code !== undefined && typeof code !== "string") return "code is a text";
  return { verdict, shown: seen, note: note === "" ? undefined : note, code };
}

const refusal = (message: string, status: number): Response => Response.json({ message }, { status });
