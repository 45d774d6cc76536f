import { counted, ToolError, ToolErrorCode, tools, trustOfAll } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import type { ScriptSessions, SessionFacts } from "./script-sessions.ts";

/** `list_script_sessions` and `end_script_session`: each caller sees its own alone. */
export function sessionTools(sessions: ScriptSessions): Tool[] {
  return [
    defineTool(tools.listScriptSessions, async (_, { caller }) => {
      const found = sessions.list(caller);
      return {
        content: found.length === 0 ? "(no sessions)" : found.map(inWords).join("\n"),
        structured: { sessions: found.map(fieldsOf) },
        trust: trustOfAll(found.map(({ trust }) => trust)),
      };
    }),
    defineTool(tools.endScriptSession, async ({ session }, { caller }) => {
      const ended = await sessions.end(caller, session);
      if (ended === undefined)
        throw new ToolError(
          ToolErrorCode.InvalidArguments,
          `There is no session "${session}". list_script_sessions names those that there are.`,
          { details: { reason: "no_session" } },
        );
      return {
        content: `The session "${session}" is ended, after ${counted(ended.cells, "cell")}.`,
        structured: { session, cells: ended.cells, was_over: ended.why !== undefined },
      };
    }),
  ];
}

function fieldsOf({ name, state, begunAt, usedAt, cells, lines, why }: SessionFacts) {
  return {
    session: name,
    state,
    begun_at: new Date(begunAt).toISOString(),
    used_at: new Date(usedAt).toISOString(),
    cells,
    last_cells: lines.map(({ cell, line }) => ({ cell, line })),
    ...(why === undefined ? {} : { over_because: why }),
  };
}

function inWords({ name, state, begunAt, usedAt, cells, why }: SessionFacts): string {
  const over = why === undefined ? "" : `: ${why}`;
  return `${name}: ${state}${over}; ${counted(cells, "cell")}, begun ${new Date(begunAt).toISOString()}, used ${new Date(usedAt).toISOString()}`;
}
