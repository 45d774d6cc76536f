import { isRecord } from "@rockbot/base";
import { type Logger, silentLogger } from "@rockbot/bus";
import type { WaitingCalls as ShownCalls, WaitingCall, WaitingQuestion } from "@rockbot/console/api";
import { hasReadUntrusted, ToolError, withHiddenShown } from "@rockbot/contracts";
import { digestOf } from "@rockbot/records/journal";
import { isAsked, MAX_ASKED_BYTES, MAX_NOTE, type Question, type Run } from "@rockbot/runs";
import type { CodeRefusal } from "../door/decision-code.ts";
import { type OperatorBindings, type OperatorHttpApp, OperatorSight } from "../operators/operator.ts";
import { noSuchOperatorPath } from "../operators/operator-routes.ts";
import { argumentsOf, NotWaitingError, StaleDecisionError, shownHash, type WaitingCalls } from "./waiting-calls.ts";

/** Where an operator reads the calls that wait for people, and decides. */
export const WAITING_PATH = "/operator/waiting";

/** The longest answer fits into it, however it is written. */
const MAX_BODY = 8 * MAX_ASKED_BYTES;
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
 * It sees those of other calls if its `sees` says so, and a hash else. A question is for each operator who may decide.
 */
export const createWaitingApp = (
  waiting: WaitingCalls,
  { log = silentLogger }: WaitingAppOptions = {},
): OperatorHttpApp => ({
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const [id = "", step, ...more] = pathname.slice(WAITING_PATH.length + 1).split("/");
    const what = more.length > 0 ? "none" : (step ?? (id === "" ? "all" : "one"));
    const isBrief = searchParams.get("brief") === "true";
    try {
      switch (`${request.method} ${what}`) {
        case "GET all":
          return Response.json(await listed(waiting, env, isBrief));
        case "GET one":
          return Response.json(await shown(waiting, await waiting.find(id), env));
        case "POST one":
          return await decide(waiting, id, { text: await request.text(), env, log });
        case "POST answer":
          return await answer(waiting, id, { text: await request.text(), env, log });
      }
      return noSuchOperatorPath();
    } catch (error) {
      if (error instanceof NotWaitingError) return refusal(error.message, 404);
      if (error instanceof StaleDecisionError) return refusal(error.message, 409);
      if (error instanceof ToolError) return refusal(error.message, 503);
      throw error;
    }
  },
});

/** @param isBrief arguments are left out, so that a page that asks again and again reads none */
async function listed(waiting: WaitingCalls, env: OperatorBindings, isBrief: boolean): Promise<ShownCalls> {
  const { runs, more, problems } = await waiting.list();
  let bytes = 0;
  const isListed = (run: Run): boolean => {
    if (isBrief || !mayRead(run, env)) return false;
    bytes += Buffer.byteLength(argumentsOf(run));
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
  const { runId, service, caller, toolCallId, toolName, message, question, createdAt, expiresAt, isKept } = run;
  const text = argumentsOf(run);
  const visible = withHiddenShown(text);
  return {
    id: runId,
    service,
    caller,
    toolCallId,
    tool: toolName,
    kind: question === undefined ? "approval" : "question",
    ...(question === undefined ? {} : { question: shownQuestion(question) }),
    ...(run.operator === undefined ? {} : { operator: run.operator }),
    given: digestOf(text, caller),
    ...(isSeen ? { arguments: text } : {}),
    ...(isSeen && question === undefined ? { shown: shownHash(run) } : {}),
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

const shownQuestion = ({ hash, message, schema, origin, faults }: Question): WaitingQuestion => ({
  hash,
  message,
  schema,
  ...(origin === undefined ? {} : { origin }),
  ...(faults === undefined ? {} : { faults }),
});

interface Posted {
  readonly text: string;
  readonly env: OperatorBindings;
  readonly log: Logger;
}

async function decide(waiting: WaitingCalls, id: string, { text, env, log }: Posted): Promise<Response> {
  const { operator } = env;
  const asked = readDecision(text);
  if (typeof asked === "string") return refusal(`Cannot decide: ${asked}`, 400);
  const { verdict, note, code, shown: seen } = asked;
  const run = await waiting.find(id);
  if (run.question !== undefined)
    return refusal("Cannot decide: the call waits for an answer to its question, and not for a decision", 409);
  const why = waiting.whyNot(run, operator.name);
  if (why !== undefined) return refusal(`Cannot decide: ${why}`, 403);
  if (seen !== shownHash(run))
    return refusal("Cannot decide: the call is not any more as it was shown. Read it again", 409);
  const refused = refusedCode(code, id, { env, log });
  if (refused !== undefined) return refused;
  return Response.json({ state: await waiting.decide(run, { operator: operator.name, verdict, note }) });
}

/** Notes a person's answer. It takes the same code: a tool may ask whether to go on, and then an answer approves. */
async function answer(waiting: WaitingCalls, id: string, { text, env, log }: Posted): Promise<Response> {
  const body = bodyIn(text);
  if (typeof body === "string") return refusal(`Cannot answer: ${body}`, 400);
  const { hash, value, code } = body;
  if (typeof hash !== "string" || value === undefined || (code !== undefined && typeof code !== "string"))
    return refusal("Cannot answer: hash is that of the question as GET gave it, value the answer, code a text", 400);
  const run = await waiting.find(id);
  if (run.question === undefined)
    return refusal("Cannot answer: the call waits for a decision, and asks nothing now", 409);
  const why = waiting.whyNot(run, env.operator.name);
  if (why !== undefined) return refusal(`Cannot answer: ${why}`, 403);
  if (hash !== run.question.hash)
    return refusal("Cannot answer: the call asks another question than it was shown. Read it again", 409);
  const refused = refusedCode(code, id, { env, log });
  if (refused !== undefined) return refused;
  return Response.json({ state: await waiting.answer(run, { operator: env.operator.name, hash, value }) });
}

function refusedCode(
  code: string | undefined,
  id: string,
  { env: { operator }, log }: Pick<Posted, "env" | "log">,
): Response | undefined {
  const refused = operator.decisionCode?.refuse(code);
  if (refused === "wrong" || refused === "locked")
    log.warn({ operator: operator.name, runId: id, refused }, "a decision came with a wrong code");
  if (refused === undefined) return undefined;
  return Response.json({ message: CODES[refused], needsCode: refused !== "not-shown" }, { status: 403 });
}

interface AskedDecision {
  readonly verdict: "approve" | "reject";
  readonly shown: string;
  readonly note?: string | undefined;
  readonly code?: string | undefined;
}

/** @returns what is wrong with it, in words */
function readDecision(text: string): AskedDecision | string {
  const body = bodyIn(text);
  if (typeof body === "string") return body;
  const { verdict, shown: seen, note, code } = body;
  if (verdict !== "approve" && verdict !== "reject") return 'verdict is "approve" or "reject"';
  if (typeof seen !== "string") return "shown is that of the call as GET gave it";
  if (note !== undefined && (typeof note !== "string" || note.length > MAX_NOTE))
    return `note is a text of at most ${MAX_NOTE} characters`;
  if (code !== undefined && typeof code !== "string") return "code is a text";
  return { verdict, shown: seen, note: note === "" ? undefined : note, code };
}

function bodyIn(text: string): Readonly<Record<string, unknown>> | string {
  let body: unknown;
  try {
    body = text.length > MAX_BODY ? undefined : JSON.parse(text);
  } catch {}
  return isRecord(body) ? body : `the body is a JSON object of at most ${MAX_BODY} characters`;
}

const refusal = (message: string, status: number): Response => Response.json({ message }, { status });
