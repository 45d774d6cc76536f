import { hkdfSync, type KeyObject } from "node:crypto";
import { ToolError, visibleText } from "@rockbot/contracts";
import type { OfferedRun, OfferedRuns } from "@rockbot/mcp/serve";
import { asksCaller, END_KEPT_MS, type Run, RunState, waitsFor } from "@rockbot/runs";
import { replyOf, type ToolCaller } from "@rockbot/tools";
import { cancelOwnCall } from "../calls/cancel-own-call.ts";
import { findOwnCall, type OwnCallOptions } from "../calls/own-call.ts";
import { HttpErrorCode } from "../http/http-error.ts";
import { StaleDecisionError, type WaitingCalls } from "../waiting/waiting-calls.ts";

export interface OwnRunsOptions extends OwnCallOptions {
  readonly waiting: Pick<WaitingCalls, "answerOfCaller">;
  /** The key that signs commands. @default nobody behind a client answers: services would believe no answer */
  readonly commandKey: KeyObject | undefined;
}

/** The calls of one caller that go on without their requests, as `/v1/calls/{toolCallId}` finds them at any gateway. */
export function ownRuns(
  caller: Pick<ToolCaller, "journal" | "agent" | "knownTools" | "cancel" | "withdraw">,
  { waiting, commandKey, ...options }: OwnRunsOptions,
): OfferedRuns {
  const unless = (code: string) => (error: unknown) => {
    if (error instanceof ToolError && error.code === code) return undefined;
    throw error;
  };
  const find = async (toolCallId: string): Promise<Run | undefined> =>
    (await findOwnCall(caller, toolCallId, options).catch(unless(HttpErrorCode.NotFound)))?.run;
  return {
    sealKey: commandKey && sealKeyOf(commandKey),
    async find(toolCallId) {
      const run = await find(toolCallId);
      return run && offered(run, commandKey !== undefined);
    },
    cancel: (toolCallId) => cancelOwnCall(caller, toolCallId, options).catch(unless(HttpErrorCode.Conflict)),
    async answer(toolCallId, key, content) {
      const run = await find(toolCallId);
      if (run?.question === undefined || keyOf(run) !== key) return;
      const answer = { hash: run.question.hash, value: content ?? null, isDeclined: content === undefined };
      await waiting.answerOfCaller(run, answer).catch((error: unknown) => {
        if (!(error instanceof StaleDecisionError)) throw error; // somebody else was first
      });
    },
  };
}

/** A key for what clients give back, the same in each gateway that signs with the same key, and good for nothing else. */
const sealKeyOf = (key: KeyObject): Uint8Array =>
  new Uint8Array(
    hkdfSync("sha256", key.export({ format: "der", type: "pkcs8" }), "", "rockbot mcp requestState 1", 32),
  );

/** A question that is asked again, as its answer had faults, is another one. */
const keyOf = ({ question, attempt }: Run): string => `${question?.hash}.${attempt}`;

function offered(run: Run, canAnswer: boolean): OfferedRun {
  const { toolCallId, toolName, state, createdAt, readyAt, expiresAt, progress, question, end } = run;
  const last = progress?.at(-1);
  const changedAt = Math.max(createdAt, readyAt ?? 0, last?.at ?? 0, end?.at ?? 0);
  const known = { toolCallId, toolName, createdAt, changedAt, keptUntil: (end?.at ?? expiresAt) + END_KEPT_MS };
  if (state === RunState.Ended) return { ...known, reply: replyOf(run) };
  if (state !== RunState.Parked) return { ...known, status: last?.message };
  const status = `waits for ${waitsFor(run)}`;
  if (question === undefined || !canAnswer || !asksCaller(run)) return { ...known, status };
  const { message, origin = toolName, faults, schema } = question;
  const words = `${origin} asks: ${message}${faults === undefined ? "" : `\nNot as asked: ${faults}`}`;
  return { ...known, status, question: { key: keyOf(run), message: visibleText(words), schema } };
}
