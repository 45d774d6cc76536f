import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { Operator } from "../door/operator.ts";
import { OperatorSight } from "./operator.ts";
import type { See } from "./see.ts";

/** Where an operator asks the agent as a caller. */
export const CHAT_PATH = "/operator/chat/completions";

/**
 * A call may leave something in its session, which a later turn of it tells. So an operator calls tools in its own
 * sessions, and in those of others only if it may read them. Sessions that it names to the agent, the agent checks.
 * @param session the session of the request's header
 * @throws {ToolError} `denied`, in words
 */
export async function checkSession({ name }: Operator, session: string | undefined, see: See): Promise<void> {
  const own = `operator:${name}:`;
  if (session === undefined || session.startsWith(own) || (await see(OperatorSight.Transcripts, session))) return;
  throw new ToolError(
    ToolErrorCode.Denied,
    `Cannot call in the session: "${name}" does not see transcripts. Name a session that begins with "${own}", or add transcripts to "sees" of the operator in the policy`,
  );
}
