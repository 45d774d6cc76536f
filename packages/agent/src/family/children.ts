import { saidBy, type ToolDefinition, ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import { defineTool, type Tool, type ToolContext, type ToolResult } from "@rockbot/tools";
import type { TurnBudget } from "../budget/turn-budget.ts";
import type { HeldTurn } from "../store/held-turn.ts";
import type { AgentDefinition } from "../words/agent-definition.ts";
import type { FamilySession } from "../words/family-session.ts";
import type { NewEvent } from "../words/new-event.ts";
import type { TurnRequest, TurnResult } from "../words/turn.ts";
import { type ChildInput, childInputSchema, validateChildInput } from "./child-input.ts";
import { canBeCalled, childToolOf } from "./child-names.ts";
import { type FamilyPlace, type FamilyTurnRequest, MAX_DEPTH, MAX_FAMILY } from "./family-place.ts";
import { innerStep } from "./inner-step.ts";
import { mayCallAgent } from "./may-call-agent.ts";
import type { RunningSession } from "./running-session.ts";
import { stepWords } from "./step-words.ts";

export interface ChildrenOptions {
  readonly request: FamilyTurnRequest;
  readonly held: HeldTurn;
  readonly budget: TurnBudget;
  /** The turn itself. */
  readonly session: RunningSession;
  readonly policy: PolicyHolder | undefined;
  /** The definitions that the caller saw when the root's turn began. */
  readonly visible: readonly AgentDefinition[];
  /** One of these as it is now. @throws {ToolError} if the caller does not see it any more, or this is not known */
  readonly current: (definition: AgentDefinition) => Promise<AgentDefinition>;
  readonly runTurn: (request: FamilyTurnRequest) => Promise<TurnResult>;
  /** Gets each call that a child makes, as a step of this turn. */
  readonly onInner: (step: Omit<NewEvent, "at">) => void;
}

type ChildContext = ToolContext & Pick<TurnRequest, "signal"> & { readonly toolCallId: string };

/** What a parent keeps for itself of a child's time, to read its result: a twentieth, at most so much. */
const MAX_RESERVE_MS = 2_000;

/** The session of a child, by the id of the call that it is. */
export const childSessionOf = (callId: string): string => `sub-${callId}`;

/** True if a session may be that of a child: its turns are those of a definition. */
export const isChildSession = (sessionId: string): boolean => sessionId.startsWith(childSessionOf(""));

/** The agents that a turn can call: each by a tool, which runs it in a session of its own, in this process. */
export class Children {
  readonly #options: ChildrenOptions;
  readonly #count: FamilyPlace["count"];

  constructor(options: ChildrenOptions) {
    this.#options = options;
    this.#count = options.request.family?.count ?? { sessions: 1 };
  }

  /** @param self the definition of the session itself */
  tools(self: AgentDefinition | undefined): readonly Tool[] {
    const before = this.#options.request.family?.path ?? [];
    const path = self === undefined ? before : [...before, self.name];
    return this.#options.visible.flatMap((definition) => {
      const tool = toolDefinitionOf(definition);
      if (tool === undefined || this.#refusal(definition.name) !== undefined) return [];
      return defineTool(tool, ({ prompt }: ChildInput, context) =>
        this.#run(definition, prompt, { path, context: context as ChildContext }),
      );
    });
  }

  async #run(
    seen: AgentDefinition,
    prompt: string,
    { path, context }: { readonly path: readonly string[]; readonly context: ChildContext },
  ): Promise<ToolResult<object>> {
    const { request, held, budget, session, visible, current, runTurn, onInner } = this.#options;
    const { toolCallId: turnId } = context;
    const definition = await current(seen);
    this.#checkPlace(definition.name, path, context);
    const share = budget.share();
    this.#count.sessions++; // at once with the check
    const startedAt = Date.now();
    try {
      const leftMs = context.deadline - performance.now();
      const result = await runTurn({
        caller: request.caller,
        sessionId: childSessionOf(turnId),
        rootSessionId: request.rootSessionId ?? request.sessionId,
        turnId,
        message: prompt,
        definition,
        family: { depth: (request.family?.depth ?? 0) + 1, path, visible, share, parent: session, count: this.#count },
        origin: request.origin,
        hasReadUntrusted: context.hasReadUntrusted,
        signal: context.signal,
        deadline: context.deadline - Math.min(MAX_RESERVE_MS, leftMs / 20),
        parent: context, // its grant is what the session may use: it bounds the child
        onEvent(event) {
          const inner = innerStep(event, turnId);
          if (inner !== undefined) onInner(inner);
          const words = stepWords(event);
          if (words !== undefined && event.kind !== "turn_started") context.progress({ message: words });
        },
      });
      const family = result.family ?? notBegun({ turnId, agent: definition.name, startedAt }, result);
      session.add(family);
      const usageId = `${turnId}-usage`;
      const isCounted = held.result(usageId) !== undefined; // by a run of this turn that was cut off
      share.end(isCounted ? undefined : result.usage);
      if (!isCounted)
        held.addResult(usageId, { content: "", isError: false, isUntrusted: false, usage: result.usage, family });
      return resultOf(definition.name, turnId, result);
    } finally {
      share.end();
    }
  }

  /**
   * @throws {ToolError} if there is no place for the child. One that may run already joins what it was, whatever there
   * is left.
   */
  #checkPlace(name: string, path: readonly string[], { mayHaveBegun = false }: ChildContext): void {
    const { request, budget } = this.#options;
    const refuse = (why: string): never => {
      throw new ToolError(ToolErrorCode.Denied, `The agent "${name}" was not called: ${why}`, {
        details: { reason: "agent_bound", mayHaveRun: false },
      });
    };
    const refusal = this.#refusal(name);
    if (refusal !== undefined) refuse(`${refusal}. Do without it.`);
    if (path.includes(name))
      refuse(`it would call itself, by ${[...path, name].join(" → ")}. Do this part of the task yourself.`);
    const depth = request.family?.depth ?? 0;
    if (depth >= MAX_DEPTH)
      refuse(
        `${depth} calls of agents led here, by ${path.join(" → ")}, and at most ${MAX_DEPTH} may. Do this part of the task yourself.`,
      );
    if (mayHaveBegun) return;
    if (this.#count.sessions >= MAX_FAMILY)
      refuse(
        `this task has led to ${this.#count.sessions} sessions of agents, the most that it may. Do the rest yourself.`,
      );
    const left = budget.left();
    if (left.tokens <= 0)
      refuse(
        "no tokens are left for it: this task and the agents that work on it have used them. Answer with what you have.",
      );
    if (left.cost <= 0)
      refuse(
        "no money is left for it: this task and the agents that work on it have used it. Answer with what you have.",
      );
  }

  #refusal(name: string): string | undefined {
    const { policy, request } = this.#options;
    const { caller } = request;
    return mayCallAgent(policy, caller, name) ? undefined : `the policy does not let "${caller}" call it`;
  }
}

const toolDefinitions = new WeakMap<AgentDefinition, ToolDefinition<ChildInput, object> | undefined>();

/** The same object from turn to turn, as there may be a thousand; undefined of one that no tool can be named after. */
function toolDefinitionOf(definition: AgentDefinition): ToolDefinition<ChildInput, object> | undefined {
  if (toolDefinitions.has(definition)) return toolDefinitions.get(definition);
  const { name } = definition;
  const tool = canBeCalled(name)
    ? {
        name: childToolOf(name),
        description: descriptionOf(definition),
        inputSchema: childInputSchema,
        readOnly: false,
        idempotent: true,
        validateInput: validateChildInput,
      }
    : undefined;
  toolDefinitions.set(definition, tool);
  return tool;
}

/** What strangers may have written stands in no list of tools. */
function descriptionOf({ name, description, isUntrusted }: AgentDefinition): string {
  const what = isUntrusted
    ? "What it does is not shown, as its definition was written after untrusted content was read."
    : description;
  return `Have the agent "${name}" do a task, and get its report. ${what}`;
}

/** A child that ended before it did anything. */
const notBegun = (
  facts: Pick<FamilySession, "turnId" | "agent" | "startedAt">,
  { finish, usage }: TurnResult,
): FamilySession => ({
  ...facts,
  sessionId: childSessionOf(facts.turnId),
  state: "ended",
  endedAt: Date.now(),
  finish,
  usage,
  calls: [],
  children: [],
});

function resultOf(
  agent: string,
  turnId: string,
  { text, finish, report, reason, usage, hasReadUntrusted }: TurnResult,
): ToolResult<object> {
  const {
    status = finish === "stop" ? "success" : finish === "limit" || finish === "length" ? "partial" : "failure",
    metadata,
  } = report ?? {};
  const notes = [
    reason === undefined ? undefined : `[The agent did not end by itself: ${reason}]`,
    status === "success" ? undefined : `[status: ${status}]`,
    metadata === undefined ? undefined : `[metadata: ${JSON.stringify(metadata)}]`,
  ];
  return {
    content: [text, ...notes].filter((part) => part !== undefined && part !== "").join("\n"),
    structured: {
      agent,
      session_id: childSessionOf(turnId),
      turn_id: turnId,
      status,
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      ...(usage.cost === undefined ? {} : { cost: usage.cost }),
    },
    isError: status === "failure",
    trust: hasReadUntrusted ? saidBy(`agent ${agent}`) : { level: "system", origin: `agent ${agent}` },
  };
}
