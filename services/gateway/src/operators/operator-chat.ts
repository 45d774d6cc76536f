import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { Operator } from "../door/operator.ts";
import { OperatorSight } from "./operator.ts";
import type { See } from "./see.ts";

/** Where an operator asks the agent as a caller. */
export const CHAT_PATH = "/operator/chat/completions";

/**
 * Who goes on with a session can ask the agent what was said in it. So an operator goes on with its own ones, and with
 * those of others only if it may read them.
 * @param session as the request names it; undefined for a conversation of its own
 * @throws {ToolError} `denied`, in words
 */
export async function checkSession({ name }: Operator, session: string | undefined, see: See): Promise<void> {
  const own = `operator:${name}:`;
  if (session === undefined || session.startsWith(own) || (await see(OperatorSight.Transcripts, session))) return;
  throw new ToolError(
    ToolErrorCode.Denied,
    `Cannot go on with the session: "${name}" does not see transcripts. Name a session that begins with "${own}", or add transcripts to "sees" of the operator in the policy`,
  );
}

/** Tools of the agent that tell what was said in a session. */
const telling = new Set(["agent__chat", "agent__events", "agent__family", "agent__helper"]);

/** A call of an operator, with the session of its headers. */
interface SessionCall {
  readonly toolName: string;
  readonly args: unknown;
  readonly session?: string | undefined;
}

/**
 * Checks the sessions of a call as those of a conversation: that of its headers, and that which the agent's tools take
 * as an argument.
 * @throws {ToolError} `denied`, in words
 */
export async function checkCallSessions(
  operator: Operator,
  { toolName, args, session }: SessionCall,
  see: See,
): Promise<void> {
  await checkSession(operator, session, see);
  if (!telling.has(toolName)) return;
  const { session_id: asked }: { session_id?: unknown } = args ?? {};
  if (typeof asked === "string") await checkSession(operator, asked, see);
  else if (toolName === "agent__family") await checkSession(operator, "all", see); // it then lists sessions
}
