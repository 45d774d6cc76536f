import { type Agent, type FamilySession, isBounded, usageMessage } from "@rockbot/agent";
import { type FamilyTurn, saidBy, ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { sessionNamespace } from "@rockbot/memory";
import { StoreUnavailableError } from "@rockbot/records";
import { defineTool, type Tool } from "@rockbot/tools";

/**
 * `agent__family`: what a session of the caller has led to, or its sessions; of those one that is bounded, as that of a
 * robot is, sees itself alone.
 */
export function agentFamily(agent: Pick<Agent, "family" | "sessions">): Tool {
  return defineTool(tools.agentFamily, ({ session_id: sessionId }, { caller, sessionId: here, grant }) =>
    withMemory("read what the session has led to", async () => {
      if (sessionId === undefined) {
        const seen = (await agent.sessions(caller)).filter(
          (each) => !isBounded(grant) || sessionNamespace(each.sessionId) === here,
        );
        const sessions = seen.map(({ sessionId: session_id, at, said }) => ({
          session_id,
          said_at: new Date(at).toISOString(),
          said,
        }));
        const content = sessions
          .map(({ session_id, said_at, said }) => `- ${session_id}, ${said_at}: ${said.replaceAll(/\s+/g, " ")}`)
          .join("\n");
        const trust = seen.some(({ isUntrusted }) => isUntrusted) ? { trust: saidBy("conversations") } : {};
        return { content: content || "There are no sessions.", structured: { turns: [], sessions }, ...trust };
      }
      const turns = (await agent.family(caller, sessionId)).flatMap((turn) => turnsOf(turn));
      const lines = turns.map(
        ({ agent: name = "agent", depth, state, session_id, calls }) =>
          `${"  ".repeat(depth)}${name} (${session_id}): ${state}, ${calls} calls`,
      );
      const none = `Nothing is known of a session ${JSON.stringify(sessionId)} of yours in the last day. Name the conversation that the others stem from.`;
      return { content: lines.join("\n") || none, structured: { turns } };
    }),
  );
}

/** `agent__cancel`: ends what runs of a session of the caller. */
export function agentCancel(agent: Pick<Agent, "family" | "cancel">): Tool {
  return defineTool(tools.agentCancel, ({ session_id: sessionId, turn_id: turnId }, { caller }) =>
    withMemory("cancel the session", async () => {
      const cancelled = [...(await agent.cancel(caller, sessionId, turnId))];
      if (cancelled.length > 0)
        return { content: `Cancelling ${cancelled.join(", ")}. It ends within a second.`, structured: { cancelled } };
      const running = (await agent.family(caller, sessionId))
        .flatMap((turn) => turnsOf(turn))
        .filter(({ state }) => state === "running");
      const help =
        running.length === 0
          ? "nothing of this session runs"
          : `of this session run: ${running.map(({ turn_id }) => turn_id).join(", ")}`;
      throw new ToolError(
        ToolErrorCode.InvalidArguments,
        `Nothing was cancelled: ${turnId === undefined ? "" : `the turn ${JSON.stringify(turnId)} does not run, and `}${help}.`,
      );
    }),
  );
}

function turnsOf(turn: FamilySession, depth = 0, parent?: FamilySession): readonly FamilyTurn[] {
  const { turnId, sessionId, agent, state, finish, startedAt, endedAt, usage, calls, children } = turn;
  const own: FamilyTurn = {
    turn_id: turnId,
    session_id: sessionId,
    ...(parent === undefined ? {} : { parent_turn_id: parent.turnId }),
    depth,
    ...(agent === undefined ? {} : { agent }),
    state,
    ...(finish === undefined ? {} : { finish }),
    started_at: new Date(startedAt).toISOString(),
    ...(endedAt === undefined ? {} : { ended_at: new Date(endedAt).toISOString() }),
    usage: usageMessage(usage),
    calls: calls.reduce((sum, { count }) => sum + count, 0),
    failed_calls: calls.reduce((sum, { failed }) => sum + failed, 0),
    tools: calls.map((call) => ({ ...call })),
  };
  return [own, ...children.flatMap((child) => turnsOf(child, depth + 1, turn))];
}

async function withMemory<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
    throw new ToolError(
      ToolErrorCode.Unavailable,
      `Cannot ${what}: the store of sessions does not answer. Try again later.`,
      { cause: error },
    );
  }
}
