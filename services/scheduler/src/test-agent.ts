import type { Bus } from "@rockbot/bus";
import { type ToolAgentChatInput, tools } from "@rockbot/contracts";
import { defineTool, serveTools } from "@rockbot/tools";

/** A turn that the agent was asked for. */
export interface AskedTurn {
  readonly caller: string;
  readonly turnId: string;
  readonly input: ToolAgentChatInput;
  readonly hasReadUntrusted: boolean;
}

/** An agent on a bus with an answer of the test for each turn. */
export interface TestAgent extends AsyncDisposable {
  readonly turns: readonly AskedTurn[];
}

/** @param answer what it says, or throws */
export async function serveTestAgent(
  bus: Bus,
  answer: (turn: AskedTurn) => Promise<string> | string = () => "done",
  tokens = 100,
): Promise<TestAgent> {
  const turns: AskedTurn[] = [];
  const chat = defineTool(tools.agentChat, async (input, { caller, toolCallId, hasReadUntrusted = false }) => {
    const turn = { caller, turnId: toolCallId, input, hasReadUntrusted };
    turns.push(turn);
    const text = await answer(turn);
    const usage = { input_tokens: tokens - 1, output_tokens: 1 };
    return {
      content: text,
      structured: { turn_id: toolCallId, session_id: input.session_id ?? "", text, finish: "stop" as const, usage },
      ...(hasReadUntrusted ? { trust: { level: "untrusted" as const, origin: "a page" } } : {}),
    };
  });
  const served = await serveTools(bus, { tools: [chat] }, { service: "agent" });
  return { turns, [Symbol.asyncDispose]: () => served[Symbol.asyncDispose]() };
}
