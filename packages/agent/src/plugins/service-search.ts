import { AGENT, tools as definitions, type PartFailures, partFailures, saidBy, ToolError } from "@rockbot/contracts";
import type { ModelTool } from "@rockbot/llm";
import {
  invokedCall,
  type ServiceEntry,
  ServiceSearch,
  type ServiceSearchOptions,
  type Summaries,
  searchGuide,
  searchTool,
  serviceEntriesOf,
  toolsModeTools,
  usableEntries,
} from "@rockbot/search";
import { SessionRights } from "../calls/session-rights.ts";
import { CHILD_SOURCE, type TurnTool } from "../calls/turn-tools.ts";
import type { SkillReader } from "../skills/skill-reader.ts";
import type { AgentHost, AgentPlugin, TurnScope } from "./agent-plugin.ts";
import { KnownAgents } from "./known-agents.ts";
import { mcpServersOf } from "./mcp-tool-proxy.ts";

/** How services are found. */
export interface ServiceSearchPluginOptions extends ServiceSearchOptions {
  /** True to put the two best services for a message beside it. @default true */
  readonly hints?: boolean | undefined;
  /** With more tools than these, the model is given a few to find and call the others with. @default 64 */
  readonly maxTools?: number | undefined;
  /** Sentences about the services; they stay their maker's. @default each service's own text */
  readonly summaries?: Summaries | undefined;
  /** What callers have written down, which is found like a service, and read by `get_skill`. @default none */
  readonly skills?: SkillReader | undefined;
}

/**
 * The tools that a model keeps when it has too many: to find, read about and call the others, and those of its session.
 */
const KEPT = new Set([
  "search_known_services",
  "get_tool_details",
  "invoke_tool",
  "list_tool_guides",
  "get_tool_guide",
  "get_skill",
]);
const INVOKE = definitions.invokeTool.name;
const SEARCH = definitions.searchKnownServices.name;
/**
 * Tools that few messages need, which a model finds by the search. The last group stays with a model that has room for
 * it.
 */
const SOUGHT: readonly {
  readonly id: string;
  readonly names: RegExp;
  readonly summary: string;
  readonly onlyIfSmall?: boolean;
}[] = [
  {
    id: "robots",
    names: /^robot_/,
    summary: "Make, read, change, delete and switch robots: agents with instructions and tools of their own.",
  },
  {
    id: "skills",
    names: /^(save|delete)_skill$|^list_skills$/,
    summary: "Save, list and delete skills: instructions for a kind of task.",
  },
  {
    id: "wisps",
    names: /^spawn_wisps$|^(save|get|delete)_wisp$|^list_wisps$/,
    summary: "Run and save pipelines of tool calls, many at once, without a model between the steps.",
  },
  {
    id: "helpers",
    names: /_subagents?$|^whiteboard_/,
    summary: "Start helpers that work beside you, and share notes with them.",
    onlyIfSmall: true,
  },
];
/** A model that can read no more than this gets the few tools, in tokens. */
const SMALL_WINDOW = 16_384;
/** The tools for what is not given. */
const TOOLS_MODE = new Set(["get_tool_details", INVOKE]);
/** Callers whose guides and skills are remembered. */
const MAX_TEXTS_OF = 1_000;

/**
 * `search_known_services` over what a caller may use; hints beside each message; and a small set of tools where there
 * are many. After `mcpToolProxy`.
 */
export const serviceSearch = ({
  hints = true,
  maxTools = 64,
  summaries,
  skills,
  ...options
}: ServiceSearchPluginOptions = {}): AgentPlugin => ({
  name: "service search",
  async start(host) {
    const { caller } = host;
    const agents = new KnownAgents(host);
    const entries = new KnownEntries(host, { summaries, skills, agents });
    const search = new ServiceSearch(() => entries.of(caller.agent), options);
    /** Tools of each role of a turn that its model is not given, though it may use them. */
    const soughtIn = new WeakMap<TurnScope, readonly ModelTool[]>();
    const entriesOf = (scope: TurnScope, by: string, grant?: string): readonly ServiceEntry[] => {
      const rights = new SessionRights({ definition: undefined, grant, policy: host.policy });
      const dangerous = new Set(caller.toolsOf(by).flatMap((tool) => (tool.dangerous ? [tool.name] : [])));
      const mayUse = (name: string): boolean =>
        rights.refusal({ name, isDangerous: dangerous.has(name), isLocal: false }) === undefined;
      const all = entries.of(by, soughtIn.get(scope));
      return rights.isBounded ? usableEntries(all, mayUse) : all;
    };
    const toolsOf = (scope: TurnScope) => {
      const within = (by: string, grant?: string) => entriesOf(scope, by, grant);
      const searched = (by: string, grant?: string) => entries.refresh(by).then(() => within(by, grant));
      const details = toolsModeTools({ caller, entriesOf: within, soughtBy: () => soughtIn.get(scope) ?? [] });
      return [searchTool(search, searched, (by) => entries.missingOf(by)), ...details];
    };
    return {
      guides: [[searchGuide]],
      tools: toolsOf,
      madeBy: (scope, call) =>
        call.name === INVOKE ? invokedCall(entriesOf(scope, scope.caller), call.arguments) : undefined,
      select(scope, all) {
        const isSmall = scope.model.behavior.contextTokens <= SMALL_WINDOW;
        const canSeek = [SEARCH, ...TOOLS_MODE].every((name) => all.some(({ tool }) => tool.name === name));
        const isSought = ({ tool, source }: TurnTool): boolean =>
          source === AGENT &&
          SOUGHT.some(({ names, onlyIfSmall = false }) => names.test(tool.name) && (isSmall || !onlyIfSmall));
        const sought = canSeek ? all.filter(isSought) : [];
        soughtIn.set(
          scope,
          sought.map(({ tool }) => tool),
        );
        const rest = all.filter((each) => !sought.includes(each));
        const others = rest.filter(({ tool }) => !TOOLS_MODE.has(tool.name));
        if (isSmall || others.filter(({ source }) => source !== CHILD_SOURCE).length > maxTools)
          return rest.filter(
            ({ tool, source }) => KEPT.has(tool.name) || source === "agent" || source === CHILD_SOURCE,
          );
        return sought.length === 0 ? others : rest;
      },
      async aside(scope, message, mayUse) {
        await entries.refresh(scope.caller);
        if (!hints || message === "") return undefined;
        const found = await search.hints(message, usableEntries(entries.of(scope.caller), mayUse), mayUse(SEARCH));
        return found === undefined ? undefined : { ...found, isUntrusted: false };
      },
      [Symbol.asyncDispose]: () => agents[Symbol.asyncDispose](),
    };
  },
});

const parameterNames = ({ properties = {} }: { readonly properties?: object }): string =>
  Object.keys(properties).join(" ");

interface KnownParts extends Pick<ServiceSearchPluginOptions, "summaries" | "skills"> {
  readonly agents: KnownAgents;
}

/** What each caller may turn to: services, MCP servers, agents of other makers, guides and skills. */
class KnownEntries {
  readonly #host: AgentHost;
  readonly #parts: KnownParts;
  /** Callers whose skills could not be read, and why. */
  readonly #skillFaults = new Map<string, string>();
  /** Guides and skills, which the search cannot wait for. */
  readonly #texts = new Map<string, readonly ServiceEntry[]>();

  constructor(host: AgentHost, parts: KnownParts) {
    this.#host = host;
    this.#parts = parts;
  }

  /** @param tools further ones that are sought in the turn */
  of(by: string, tools: readonly ModelTool[] = []): readonly ServiceEntry[] {
    const services = serviceEntriesOf(this.#host.caller, by, mcpServersOf(this.#host)).filter(({ id }) => id !== AGENT);
    const sought = tools.map(({ name, description, parameters }) => ({
      name,
      description,
      parameters: parameterNames(parameters),
    }));
    const groups = SOUGHT.map(
      ({ id, names, summary }): ServiceEntry => ({
        id,
        type: "tool",
        summary,
        tools: sought.filter(({ name }) => names.test(name)),
      }),
    );
    const all = [...services, ...groups.filter((group) => group.tools.length > 0), ...this.#parts.agents.of(by)];
    return [...(this.#parts.summaries?.apply(all) ?? all), ...(this.#texts.get(by) ?? [])];
  }

  /** What could not be read of it all. */
  async missingOf(by: string): Promise<PartFailures | undefined> {
    const { missing } = await this.#host.caller.discovered();
    const lists = missing.map(({ service, fault }) => ({
      item: service,
      error: `unavailable: its list of tools ${fault === undefined ? "has not come yet" : "cannot be used"}`,
    }));
    const [agents, skills] = [this.#parts.agents.faultOf(by), this.#skillFaults.get(by)];
    const failures = [
      ...lists,
      ...(agents === undefined ? [] : [{ item: "agents of other makers", error: agents }]),
      ...(skills === undefined ? [] : [{ item: "skills", error: skills }]),
    ];
    return partFailures(
      failures,
      serviceEntriesOf(this.#host.caller, by, mcpServersOf(this.#host)).length + failures.length,
    );
  }

  /** Reads the guides, skills and agents of a caller. Skills that cannot be read now are not found. */
  async refresh(by: string): Promise<void> {
    const [guides, skills] = await Promise.all([
      this.#host.caller.getGuides(by),
      this.#skillsOf(by),
      this.#parts.agents.refresh(by),
    ]);
    if (this.#texts.size >= MAX_TEXTS_OF && !this.#texts.has(by)) this.#texts.clear();
    this.#texts.set(by, [
      ...guides.map(
        ({ name, summary, trust }): ServiceEntry => ({ id: name, type: "guide", summary, tools: [], trust }),
      ),
      ...skills,
    ]);
  }

  async #skillsOf(by: string): Promise<readonly ServiceEntry[]> {
    try {
      const skills = (await this.#parts.skills?.visibleTo(by)) ?? [];
      this.#skillFaults.delete(by);
      return skills.map(({ name, summary, tags, isUntrusted }) => {
        const words = tags.length === 0 ? summary : `${summary} (${tags.join(", ")})`;
        return {
          id: name,
          type: "skill",
          summary: words,
          tools: [],
          ...(isUntrusted ? { trust: saidBy(`skill ${name}`) } : {}),
        };
      });
    } catch (error) {
      if (this.#skillFaults.size >= MAX_TEXTS_OF) this.#skillFaults.clear();
      this.#skillFaults.set(
        by,
        error instanceof ToolError
          ? `${error.code}: ${error.message}`
          : "unavailable: the store of skills could not be read",
      );
      this.#host.log.warn({ reason: String(error) }, "could not read the skills of a caller");
      return [];
    }
  }
}
