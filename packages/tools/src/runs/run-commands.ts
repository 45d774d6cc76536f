import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { isSignedDecision } from "@rockbot/runs";
import { ANSWER, ANSWER_OF_CALLER, type CommandHandler, DECIDE } from "../commands/take-commands.ts";
import type { RunKeeper } from "./run-keeper.ts";

/** Obeys decisions about calls that wait. Every instance gets each; the first one notes it. */
export const runCommands = (keeper: RunKeeper): Readonly<Record<string, CommandHandler>> => ({
  [DECIDE]: async ({ caller, toolCallId, decision }) => {
    if (typeof caller !== "string" || typeof toolCallId !== "string" || !isSignedDecision(decision))
      throw new ToolError(
        ToolErrorCode.InvalidArguments,
        "Cannot decide: the command names no call, or has no decision",
      );
    const run = await keeper.decide({ caller, toolCallId }, decision);
    if (typeof run === "string") throw new ToolError(ToolErrorCode.Denied, `The decision does not count: ${run}`);
    return { state: run.state };
  },
  [ANSWER]: answering(keeper, false),
  [ANSWER_OF_CALLER]: answering(keeper, true),
});

const answering =
  (keeper: RunKeeper, isOfCaller: boolean): CommandHandler =>
  async ({ caller, toolCallId, hash, value, isDeclined }, operator) => {
    if (typeof caller !== "string" || typeof toolCallId !== "string" || typeof hash !== "string" || value === undefined)
      throw new ToolError(ToolErrorCode.InvalidArguments, "Cannot answer: the command names no call, or has no answer");
    const answer = { hash, value, operator, ...(isDeclined === true ? { isDeclined } : {}) };
    const run = await keeper.answer({ caller, toolCallId }, answer, isOfCaller);
    if (typeof run === "string") throw new ToolError(ToolErrorCode.Denied, `The answer does not count: ${run}`);
    return { state: run.state };
  };
