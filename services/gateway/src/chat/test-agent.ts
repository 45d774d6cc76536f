import type { Bus } from "@rockbot/bus";
import {
  AGENT,
  type AgentEvent,
  agentTopics,
  createEnvelope,
  encodeMessage,
  messages,
  type ToolAgentChatInput,
  type ToolAgentChatOutput,
  tools,
} from "@rockbot/contracts";
import { defineTool, serveTools } from "@rockbot/tools";

/** A turn, as the script of a test agent sees it. */
export interface TestTurn {
  readonly caller: string;
  readonly turnId: string;
  readonly sessionId: string;
  readonly input: ToolAgentChatInput;
  readonly signal: AbortSignal;
  /** Tells a step of the turn. @param isLost whether only the log gets it */
  tell(event: Pick<AgentEvent, "kind"> & Partial<AgentEvent>, isLost?: boolean): Promise<void>;
}

type Script = (turn: TestTurn) => Promise<Partial<ToolAgentChatOutput> & { readonly isUntrusted?: boolean }>;

/** The two tools of an agent without a model: each turn is what `script` does, told as the agent tells it. */
export async function serveTestAgent(bus: Bus, script: Script) {
  const logs = new Map<string, AgentEvent[]>();
  const turns: TestTurn[] = [];
  const logOf = (caller: string, sessionId: string): AgentEvent[] => {
    const key = `${caller} ${sessionId}`;
    const log = logs.get(key) ?? [];
    logs.set(key, log);
    return log;
  };
  const chat = defineTool(tools.agentChat, async (input, { caller, toolCallId: turnId, signal }) => {
    const sessionId = input.session_id ?? turnId;
    const log = logOf(caller, sessionId);
    const tell: TestTurn["tell"] = async (event, isLost = false) => {
      const whole = {
        sessionId,
        turnId,
        sequence: (log.at(-1)?.sequence ?? 0) + 1,
        at: new Date().toISOString(),
        ...event,
      } as AgentEvent;
      log.push(whole);
      const body = encodeMessage("AgentEvent", whole);
      if (!isLost)
        await bus.publish(
          createEnvelope({
            topic: agentTopics.event(caller, sessionId),
            type: messages.AgentEvent.type,
            source: AGENT,
            body,
          }),
        );
    };
    const turn = { caller, turnId, sessionId, input, signal, tell };
    turns.push(turn);
    await tell({ kind: "turn_started" });
    const { isUntrusted = false, ...output } = await script(turn);
    const structured = {
      turn_id: turnId,
      session_id: sessionId,
      text: "",
      finish: "stop" as const,
      usage: { input_tokens: 7, output_tokens: 5 },
      ...output,
    };
    await tell({ kind: "turn_finished", finish: structured.finish, usage: structured.usage });
    return {
      content: structured.text,
      structured,
      ...(isUntrusted ? { trust: { level: "untrusted" as const, origin: "a page" } } : {}),
    };
  });
  const events = defineTool(
    tools.agentEvents,
    async ({ session_id: sessionId, after = 0, limit = 500 }, { caller }) => {
      const log = logOf(caller, sessionId);
      return {
        content: null,
        structured: {
          events: log.filter(({ sequence }) => sequence > after).slice(0, limit),
          last: log.at(-1)?.sequence ?? 0,
        },
      };
    },
  );
  const serving = await serveTools(
    bus,
    { tools: [chat, events], guides: [] },
    { service: AGENT, topic: agentTopics.invoke },
  );
  return { turns, logOf, [Symbol.asyncDispose]: async () => await serving[Symbol.asyncDispose]() };
}

/** Answers in two words, each told by itself. */
export const twoWords: Script = async ({ tell }) => {
  await tell({ kind: "text", text: "Hello" });
  await tell({ kind: "text", text: " there." });
  return { text: "Hello there." };
};
