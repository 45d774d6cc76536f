import { hashOf } from "./decision.ts";
import { type Run, RunState } from "./run.ts";

const ARGUMENTS = '{"to":"bob"}';

/** A run that waits for Ada's or Bob's approval, unless its parts say otherwise. */
export const testRun = (parts: Partial<Run> = {}): Run => ({
  runId: `run-${parts.toolCallId ?? "c1"}`,
  service: "mail",
  caller: "ada",
  toolCallId: "c1",
  toolName: "send",
  requestHash: "r",
  message: {
    topic: "tool.invoke.mail",
    messageId: "c1",
    type: "ToolInvokeRequest",
    source: "ada",
    timestamp: 1,
    headers: {},
    body: "e30=",
  },
  state: RunState.Parked,
  isKept: false,
  waiters: [{ topic: "tool.result.ada", correlationId: "c1", tellAt: 8_000_000_000_000, until: 8_000_000_000_500 }],
  approval: {
    asked: [{ by: ["ann", "bob"], needed: 1 }],
    arguments: ARGUMENTS,
    binding: {
      caller: "ada",
      tool: "send",
      argumentsHash: hashOf(ARGUMENTS),
      definitionHash: "d",
      decisionHash: "p",
    },
    decisions: [],
  },
  createdAt: 1_000,
  expiresAt: 9_000_000_000_000,
  attempt: 0,
  hasStarted: false,
  ...parts,
});
