import type { Logger } from "@rockbot/bus";
import { tools } from "@rockbot/contracts";
import type { Model } from "@rockbot/llm";
import { sessionNamespace } from "@rockbot/memory";
import type { PolicyHolder } from "@rockbot/policy";
import type { Tool, ToolCaller } from "@rockbot/tools";
import { InnerCalls, type InnerCallsOptions } from "../calls/inner-calls.ts";
import { SessionRights } from "../calls/session-rights.ts";
import { type TurnTool, TurnTools } from "../calls/turn-tools.ts";
import type { UntrustedMark } from "../calls/untrusted-mark.ts";
import { withRobotIds } from "../definitions/robot-ids.ts";
import type { TurnDefinitions } from "../definitions/session-definitions.ts";
import type { Children } from "../family/children.ts";
import { mayCallAgent } from "../family/may-call-agent.ts";
import type { AgentParts, TurnScope } from "../plugins/agent-plugin.ts";
import { fence } from "../prompt/fence.ts";
import { systemText } from "../prompt/system-text.ts";
import { recordTaint } from "../records/grant.ts";
import { batchTool } from "../session-tools/batch.ts";
import { finalReportTool } from "../session-tools/final-report.ts";
import { handOffTool } from "../session-tools/hand-off.ts";
import { taskStatusTool } from "../session-tools/task-status.ts";
import type { AgentDefinition } from "../words/agent-definition.ts";
import type { TurnRequest } from "../words/turn.ts";

/** What a turn answers as: the plain agent, or a definition. */
export interface Role {
  readonly definition: AgentDefinition | undefined;
  readonly model: Model;
  readonly scope: TurnScope;
  readonly tools: TurnTools;
  /** The system message. */
  readonly system: string;
  /** The playbook of a definition that is untrusted, fenced. It is no part of the system message. */
  readonly playbook: string | undefined;
}

/** The tools of a caller's sessions that parts have read for a turn. */
export type ReadTools = ReadonlyMap<AgentParts, (scope: TurnScope) => readonly Tool[]>;

export interface TurnRolesOptions {
  readonly agent: {
    readonly name: string;
    readonly instructions: string | undefined;
    readonly model: Model;
    readonly models: ((name: string) => Model | undefined) | undefined;
    readonly caller: ToolCaller;
    readonly policy: PolicyHolder | undefined;
    readonly parts: readonly AgentParts[];
    readonly limits: { readonly maxParallelCalls: number };
    readonly log: Logger;
  };
  readonly request: TurnRequest;
  readonly definitions: TurnDefinitions;
  readonly nonce: string;
  readonly mark: UntrustedMark;
  readonly children: Children;
  /** What tools of the session make calls with. */
  readonly calls: Omit<InnerCallsOptions, "role">;
  readonly readTools: ReadTools;
  /** The session whose working memory the turn uses. */
  readonly memorySessionId: string;
}

const RULES = `You have one task. When it is done, or cannot be done, call ${tools.agentFinalReport.name}: it ends the task, and only its report reaches the one who gave it to you.`;

const playbookOf = ({ playbook, reportSchema }: AgentDefinition): string =>
  reportSchema === undefined
    ? playbook
    : `${playbook}\n\nYour report is data: ${tools.agentFinalReport.name} takes it as content_json, with the format json, if it fits this JSON Schema:\n${JSON.stringify(reportSchema)}`;

/** The roles of one turn: what it begins as, and what it is handed over to. */
export class TurnRoles {
  readonly #options: TurnRolesOptions;
  readonly #calls: InnerCalls;
  #current: Role | undefined;

  constructor(options: TurnRolesOptions) {
    this.#options = options;
    this.#calls = new InnerCalls({ ...options.calls, role: () => this.current });
  }

  /** What the turn is now. */
  get current(): Role {
    if (this.#current === undefined)
      throw new TypeError("A tool of a session makes calls when it is called, not before");
    return this.#current;
  }

  /** The definition of this name that the session may be handed over to. */
  find(name: string): AgentDefinition | undefined {
    return this.#options.definitions.visible.find((definition) => definition.name === name);
  }

  /** Has later turns of the session be what this one is handed over to. */
  async remember(definition: AgentDefinition): Promise<void> {
    const { request, definitions } = this.#options;
    if (request.definition === undefined) await definitions.remember(definition); // else who asks for the turn says what it is
  }

  /** One that is untrusted marks the turn. */
  become(definition: AgentDefinition | undefined): Role {
    const { agent, request, nonce, mark } = this.#options;
    if (definition !== undefined) {
      const { isUntrusted, origin } = recordTaint("agent", definition);
      if (isUntrusted) mark.set(origin);
    }
    const named = definition?.model === undefined ? undefined : agent.models?.(definition.model);
    if (definition?.model !== undefined && named === undefined)
      agent.log.warn(
        { agent: definition.name, model: definition.model },
        "a definition names a model that the agent does not have, and gets the agent's own",
      );
    const model = named ?? request.model ?? agent.model;
    const scope = this.#scopeOf(model);
    const playbook = definition === undefined ? "" : playbookOf(definition);
    const instructions = [
      ...(definition === undefined ? [agent.instructions] : [RULES, definition.isUntrusted ? undefined : playbook]),
    ];
    const texts = [...instructions, ...agent.parts.map((part) => part.instructions)].filter(
      (text) => text !== undefined && text !== "",
    );
    this.#current = {
      definition,
      model,
      scope,
      tools: this.#toolsOf(definition, scope),
      system: systemText({
        name: definition?.name ?? agent.name,
        instructions: texts.join("\n\n"),
        modelText: model.behavior.systemText,
      }),
      playbook: definition?.isUntrusted
        ? `How to work, written after strangers' content was read:\n${fence(playbook, { nonce, origin: "definition" })}`
        : undefined,
    };
    return this.#current;
  }

  #scopeOf(model: Model): TurnScope {
    const { request, mark, memorySessionId } = this.#options;
    const { caller, sessionId, rootSessionId = sessionId, turnId, origin = "user" } = request;
    return {
      caller,
      sessionId,
      rootSessionId,
      namespace: sessionNamespace(memorySessionId),
      turnId,
      origin,
      model,
      calls: this.#calls,
      get hasReadUntrusted() {
        return mark.isSet;
      },
    };
  }

  #toolsOf(definition: AgentDefinition | undefined, scope: TurnScope): TurnTools {
    const { agent, request, definitions, readTools, children } = this.#options;
    const { caller, policy, parts, log } = agent;
    const all = new SessionRights({ definition, grant: request.parent?.grant, policy });
    const rights = all.isBounded ? all : undefined;
    const made = parts.map((part) => ({
      part,
      tools: [...(part.tools?.(scope) ?? []), ...(readTools.get(part)?.(scope) ?? [])],
    }));
    const toolsOf = (takes: (part: AgentParts) => boolean): readonly Tool[] =>
      made.flatMap(({ part, tools }) => (takes(part) ? tools : []));
    const isOfSession = (part: AgentParts): boolean => part.isOfSession ?? false;
    const byName = (all: readonly Tool[]): readonly Tool[] => [
      ...new Map(all.map((tool) => [tool.definition.name, tool])).values(),
    ];
    const select = (all: readonly TurnTool[]): readonly TurnTool[] =>
      parts.reduce((left, part) => part.select?.(scope, left) ?? left, all);
    return new TurnTools({
      caller,
      effectiveCaller: scope.caller,
      namespace: scope.namespace,
      local: byName(toolsOf((part) => !isOfSession(part))),
      unhurried: toolsOf((part) => part.takesTurnsTime ?? false),
      own: byName([
        ...toolsOf(isOfSession),
        ...(definition === undefined ? [] : this.#sessionTools(definition, scope)),
      ]),
      children: children.tools(definition),
      clientTools: request.clientTools?.length,
      policy,
      rights,
      advise: withRobotIds(definitions.visible, scope.caller),
      select,
      layers: parts.flatMap((part) => (part.layer === undefined ? [] : [part.layer(scope)])),
      fits: parts.flatMap((part) => (part.fit === undefined ? [] : [part.fit(scope)])),
      madeBy: (call) => parts.map((part) => part.madeBy?.(scope, call)).find((made) => made !== undefined),
      log,
    });
  }

  #sessionTools({ reportSchema, destinations = [] }: AgentDefinition, { caller, calls }: TurnScope): readonly Tool[] {
    const { agent } = this.#options;
    const reachable = destinations.flatMap((name) => this.find(name) ?? []);
    return [
      finalReportTool(reportSchema),
      taskStatusTool(),
      batchTool({ calls, maxParallel: agent.limits.maxParallelCalls }),
      ...(reachable.length === 0
        ? []
        : [
            handOffTool({
              reachable,
              current: this.#options.definitions.current,
              mayCall: (name) => mayCallAgent(agent.policy, caller, name),
            }),
          ]),
    ];
  }
}
