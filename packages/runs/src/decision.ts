import { createHash, type KeyObject, randomBytes, sign, verify } from "node:crypto";
import { isRecord } from "@rockbot/base";
import { canonicalJson } from "@rockbot/contracts";
import type { Approval, Binding, Run, SignedDecision } from "./run.ts";

/** The words of an operator about exactly what the operator saw. */
export interface Decision extends Binding {
  readonly runId: string;
  readonly service: string;
  readonly toolCallId: string;
  readonly verdict: "approve" | "reject";
  readonly operator: string;
  readonly note?: string | undefined;
  /** Unix milliseconds, by the clock of the process that signs. */
  readonly at: number;
  readonly nonce: string;
}

/** Longer notes are refused. */
export const MAX_NOTE = 2_000;

/** The key signs nothing else that begins so. */
const PURPOSE = "rockbot decision 1\n";
const NONCE_BYTES = 16;

/** Signs a decision about a run as it was read, where the operator came in. */
export function signDecision(
  key: KeyObject,
  run: Run,
  { verdict, operator, note }: Pick<Decision, "verdict" | "operator" | "note">,
  clock: () => number = Date.now,
): SignedDecision {
  const { runId, service, toolCallId, approval } = run;
  if (approval === undefined) throw new TypeError("Cannot decide: nobody was asked");
  const nonce = randomBytes(NONCE_BYTES).toString("base64url");
  const decision: Decision = {
    ...approval.binding,
    argumentsHash: hashOf(approval.arguments), // of what was shown, whatever the record says of it
    runId,
    service,
    toolCallId,
    verdict,
    operator,
    note,
    at: clock(),
    nonce,
  };
  const statement = canonicalJson(decision);
  return { statement, signature: sign(null, Buffer.from(PURPOSE + statement), key).toString("base64url") };
}

/** @returns undefined if the key has not signed it */
export function readDecision({ statement, signature }: SignedDecision, key: KeyObject): Decision | undefined {
  if (!verify(null, Buffer.from(PURPOSE + statement), key, Buffer.from(signature, "base64url"))) return undefined;
  return JSON.parse(statement) as Decision; // the key's holder wrote it
}

/** Reads what may be a signed decision, from a stranger. */
export const isSignedDecision = (value: unknown): value is SignedDecision =>
  isRecord(value) && typeof value["statement"] === "string" && typeof value["signature"] === "string";

/**
 * Judges one more decision about a run.
 * @returns why it does not count, in words, or what it leads to
 */
export function judgeDecision(
  run: Run,
  signed: SignedDecision,
  key: KeyObject,
): { readonly decision: Decision; readonly isApproved: boolean } | string {
  const { approval } = run;
  if (approval === undefined) return "nobody was asked about this call";
  const decision = readDecision(signed, key);
  if (decision === undefined) return "its signature is not that of the operators' door";
  const changed = otherThan(run, approval.binding, decision);
  if (changed !== undefined) return `it is about another ${changed} than the call has`;
  const why = whyNotBy(run, decision.operator, key);
  if (why !== undefined) return why;
  const isApproved = decision.verdict === "approve" && isFulfilled(run, [...approval.decisions, signed], key);
  return { decision, isApproved };
}

/** Why an operator does not decide about a run, in words. */
export function whyNotBy(run: Run, operator: string, key: KeyObject): string | undefined {
  const { approval } = run;
  if (approval === undefined) return "nobody was asked about this call";
  if (operator === run.operator) return `"${operator}" made this call, and so does not decide about it`;
  if (!isAsked(approval, operator)) return `the policy asks ${namesIn(approval)}, and not "${operator}"`;
  if (approval.decisions.some((each) => readDecision(each, key)?.operator === operator))
    return `"${operator}" has decided already`;
  return undefined;
}

/** Tells whether the policy asks this operator. */
export const isAsked = ({ asked }: Pick<Approval, "asked">, operator: string): boolean =>
  asked.some(({ by }) => by.includes(operator));

/** Tells whether the decisions of a run, each verified anew, approve it as it is bound now. */
export function isApproved(run: Run, binding: Binding, key: KeyObject): boolean {
  const { approval } = run;
  if (approval === undefined || canonicalJson(approval.binding) !== canonicalJson(binding)) return false;
  return isFulfilled(run, approval.decisions, key);
}

/** The operators whom a run waits for, in words. */
const namesIn = ({ asked }: Pick<Approval, "asked">): string =>
  asked.map(({ by, needed }) => (needed === 1 ? by.join(" or ") : `${needed} of ${by.join(", ")}`)).join(", and ");

/** The wait of a run in words, without texts of its tool. */
export function waitsFor({ approval, question }: Pick<Run, "approval" | "question">): string {
  if (question?.origin !== undefined) return `a person's answer to a question of ${question.origin}`;
  if (question !== undefined) return "a person's answer";
  return `the approval of ${approval === undefined ? "a person" : namesIn(approval)}`;
}

/** SHA-256, base64url. */
export const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64url");

function isFulfilled(run: Run, decisions: readonly SignedDecision[], key: KeyObject): boolean {
  const { approval } = run;
  if (approval === undefined) return false;
  const read = decisions.flatMap((each) => readDecision(each, key) ?? []);
  const valid = read.filter(
    (decision) => otherThan(run, approval.binding, decision) === undefined && decision.operator !== run.operator,
  );
  if (valid.some(({ verdict }) => verdict === "reject")) return false;
  const approving = new Set(valid.map(({ operator }) => operator));
  return approval.asked.every(({ by, needed }) => new Set(by.filter((name) => approving.has(name))).size >= needed);
}

/** What a decision has otherwise than the run, in a word. */
function otherThan(run: Run, binding: Binding, decision: Decision): string | undefined {
  if (decision.runId !== run.runId || decision.toolCallId !== run.toolCallId) return "call";
  if (decision.service !== run.service) return "service";
  if (decision.caller !== run.caller || decision.caller !== binding.caller) return "caller";
  if (decision.tool !== run.toolName || decision.tool !== binding.tool) return "tool";
  if (decision.argumentsHash !== binding.argumentsHash) return "text of arguments";
  if (decision.definitionHash !== binding.definitionHash) return "definition of the tool";
  if (decision.decisionHash !== binding.decisionHash) return "rule of the policy, or credential,";
  return undefined;
}
