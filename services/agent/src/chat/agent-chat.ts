import {
  type Agent,
  type AgentDefinition,
  type DefinitionReader,
  mayCallAgent,
  stepWords,
  type TurnRequest,
  type TurnResult,
  usageMessage,
} from "@rockbot/agent";
import {
  namesHelp,
  saidBy,
  type ToolAgentChatInput,
  type ToolAgentChatOutput,
  ToolError,
  ToolErrorCode,
  tools,
} from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import { defineTool, type Tool, type ToolCaller, type ToolResult } from "@rockbot/tools";
import { schemaFaults } from "../robots/schema-faults.ts";
import { untilEnded } from "./awaited-calls.ts";
import { TurnMetrics } from "./turn-metrics.ts";

/** Hears of the answer of a turn that no user has asked for. */
export type OnUnasked = (caller: string, sessionId: string, turnId: string, text: string) => Promise<void>;

/** The turns that callers may ask for. */
export interface AgentChatOptions {
  /** Names of the one model that the agent has. */
  readonly modelNames: readonly string[];
  readonly turnTimeoutMs: number;
  /** The agents that callers may name. @default none */
  readonly definitions: DefinitionReader | undefined;
  readonly policy: PolicyHolder | undefined;
  readonly onUnasked: OnUnasked;
  /** Looks for the end of a call that a turn comes after. @default no turn does */
  readonly calls?: Pick<ToolCaller, "agent" | "call"> | undefined;
}

/** `agent__chat`: one turn of the agent. The call's id is the turn's. */
export function agentChat(agent: Pick<Agent, "runTurn" | "isToBlame">, options: AgentChatOptions): Tool {
  const { modelNames, turnTimeoutMs, onUnasked } = options;
  const metrics = new TurnMetrics();
  return defineTool(
    tools.agentChat,
    async (input, context) => {
      await checkInput(input, modelNames);
      const { after } = input;
      if (after !== undefined) await untilEnded(options.calls, after, context);
      const { caller, toolCallId: turnId, progress } = context;
      const sessionId = input.session_id ?? turnId;
      const definition = input.agent === undefined ? undefined : await definitionNamed(input.agent, caller, options);
      const result = await metrics.measure(input.origin, () =>
        agent.runTurn({
          ...requestOf(input),
          ...(definition === undefined ? {} : { definition }),
          ...(after === undefined
            ? {}
            : { ended: { id: after.call_id, name: after.tool, arguments: after.arguments } }),
          caller,
          sessionId,
          turnId,
          hasReadUntrusted: context.hasReadUntrusted,
          signal: context.signal,
          deadline: Math.min(context.deadline, performance.now() + turnTimeoutMs),
          parent: context,
          withoutPlace: context.withoutPlace,
          onEvent(event) {
            const message = stepWords(event);
            if (message !== undefined) progress({ message });
          },
        }),
      );
      if (input.origin === "schedule") await onUnasked(caller, sessionId, turnId, result.text);
      return answerOf(result, { turnId, sessionId });
    },
    {
      isResumable: true,
      leavesPlace: true,
      isToBlame({ toolCallId: turnId, arguments: args }, caller) {
        const { session_id: sessionId } = JSON.parse(args ?? "{}") as ToolAgentChatInput;
        return agent.isToBlame({ caller, sessionId: sessionId ?? turnId, turnId });
      },
    },
  );
}

/** @throws {ToolError} */
async function checkInput(input: ToolAgentChatInput, modelNames: readonly string[]): Promise<void> {
  const { message, messages, model, tools: clientTools = [], tool_choice: choice, response_format: form } = input;
  const refuse = (why: string, details?: Readonly<Record<string, string>>): never => {
    throw new ToolError(ToolErrorCode.InvalidArguments, `Cannot ask the agent: ${why}`, { details });
  };
  if (message === undefined && messages === undefined)
    refuse("there is no message. Give message, or the whole conversation as messages");
  if (message !== undefined && messages !== undefined) refuse("there are both message and messages. Give one of them");
  const orphan = messages === undefined ? -1 : firstOrphan(messages);
  if (orphan >= 0) {
    const param = `messages[${orphan}].tool_call_id`;
    const why = "is of no call of the assistant's message before it that has no result yet. Send the call, too";
    refuse(`${param} ${why}, or the text as a message of the user`, { param });
  }
  if (model !== undefined && !modelNames.includes(model))
    refuse(`it has no model "${model}". It has ${modelNames.join(", also called ")}`, { reason: "model_not_found" });
  if (choice === "required" && clientTools.length === 0)
    refuse("tool_choice asks for a call of tools, and there are none. Give tools, or leave it out");
  const [fault] = await schemaFaults(form?.schema, { isLenient: true });
  if (fault !== undefined) refuse(`the schema of response_format ${fault}`, { param: "response_format" });
}

/** The index of the first result that no model would get, as providers take results right after their calls; or -1. */
function firstOrphan(messages: NonNullable<ToolAgentChatInput["messages"]>): number {
  let open: string[] = [];
  return messages.findIndex(({ role, tool_calls: calls = [], tool_call_id: id }) => {
    if (role === "tool") {
      const at = open.findIndex((each) => each === id);
      if (at >= 0) open.splice(at, 1);
      return at < 0;
    }
    if (role !== "system") open = calls.map((call) => call.id); // system messages go before all others
    return false;
  });
}

/** @throws {ToolError} if there is none that the caller may call */
async function definitionNamed(
  name: string,
  caller: string,
  { definitions, policy }: Pick<AgentChatOptions, "definitions" | "policy">,
): Promise<AgentDefinition> {
  const visible = await definitions?.visibleTo(caller).catch((cause: unknown) => {
    throw new ToolError(
      ToolErrorCode.Unavailable,
      `Cannot ask the agent "${name}": the definitions of agents cannot be read now. Try again later.`,
      { cause },
    );
  });
  const mayCall = (each: string): boolean => mayCallAgent(policy, caller, each);
  const found = visible?.find((each) => each.name === name);
  if (found !== undefined && mayCall(name)) return found;
  if (found !== undefined)
    throw new ToolError(
      ToolErrorCode.Denied,
      `Cannot ask the agent "${name}": the policy does not let "${caller}" call it.`,
    );
  const known = (visible ?? []).map((each) => each.name).filter(mayCall);
  const help = known.length === 0 ? "You may call none: robot_create makes one." : namesHelp(name, known);
  throw new ToolError(
    ToolErrorCode.InvalidArguments,
    `Cannot ask the agent ${JSON.stringify(name)}: you see none of this name. ${help}`,
  );
}

function requestOf(input: ToolAgentChatInput): Partial<TurnRequest> {
  const {
    message,
    messages,
    images,
    tools: clientTools,
    origin,
    max_output_tokens: maxOutputTokens,
    response_format: form,
    stop,
  } = input;
  return {
    message,
    messages,
    images,
    form,
    stop,
    mustCall: input.tool_choice === "required",
    oneCall: input.parallel_tool_calls === false,
    clientTools: clientTools?.map(({ name, description = "", parameters }) => ({ name, description, parameters })),
    origin,
    maxOutputTokens,
  };
}

function answerOf(
  { text, finish, toolCalls, report, usage, hasReadUntrusted, reason, code, largeResults = [] }: TurnResult,
  { turnId, sessionId }: { readonly turnId: string; readonly sessionId: string },
): ToolResult<ToolAgentChatOutput> {
  return {
    content: text,
    structured: {
      turn_id: turnId,
      session_id: sessionId,
      text,
      finish,
      ...(toolCalls === undefined
        ? {}
        : { tool_calls: toolCalls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args })) }),
      usage: usageMessage(usage),
      ...(largeResults.length === 0
        ? {}
        : {
            tool_outputs: largeResults.map(({ toolCallId, toolName, toolOutput }) => ({
              tool_call_id: toolCallId,
              tool: toolName,
              tool_output: toolOutput,
            })),
          }),
      ...(report === undefined
        ? {}
        : {
            report: {
              status: report.status,
              format: report.format,
              ...(report.metadata === undefined ? {} : { metadata: report.metadata }),
            },
          }),
      ...(reason === undefined ? {} : { reason }),
      ...(code === undefined ? {} : { code }),
    },
    isError: finish === "failed" || report?.status === "failure",
    trust: hasReadUntrusted ? saidBy("agent") : { level: "system", origin: "agent" },
  };
}
