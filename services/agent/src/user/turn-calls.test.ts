import { ToolError } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { TurnCalls } from "./turn-calls.ts";

test.each([
  ["nothing of a message that another has by now", "unavailable", false, undefined],
  [
    "why it was not taken, of one that is its own",
    "unavailable",
    true,
    "I could not answer: The message was not taken.",
  ],
  [
    "that it may have been taken, of one whose answer is lost",
    "outcome_unknown",
    true,
    expect.stringContaining("may have been taken"),
  ],
])("an agent that cannot answer says %s", async (_, code, isOurs, text) => {
  const call = () => Promise.reject(new ToolError(code, "The message was not taken."));
  const delivery = { signal: new AbortController().signal, isOurs: async () => isOurs };
  const question = { caller: "u", sessionId: "s", turnId: "t", message: "Go." };
  expect((await new TurnCalls({ call }).ask(question, { timeoutMs: 1_000, delivery }))?.text).toEqual(text);
});
