import type { Bus, Logger } from "@rockbot/bus";
import type { ToolGuide } from "@rockbot/contracts";
import type { Model } from "@rockbot/llm";
import type { WorkingMemory } from "@rockbot/memory";
import type { PolicyHolder, Readers, ServiceFacet } from "@rockbot/policy";
import type { Tool, ToolCaller, ToolLayer } from "@rockbot/tools";
import type { InnerCalls } from "../calls/inner-calls.ts";
import type { NamedCall, TurnTool } from "../calls/turn-tools.ts";
import type { Agent } from "../words/agent.ts";

/** Adds something to an agent: tools, layers around calls, or parts of the prompt. */
export interface AgentPlugin {
  readonly name: string;
  /** The plugin for the working memory gives it: the agent's memory, if the plugin names one. */
  readonly memory?: WorkingMemory | undefined;
  /** Called once, at the agent's start, in the order of `use`. */
  start(host: AgentHost): Promise<AgentParts>;
}

/** The agent that a plugin is for. */
export interface AgentHost {
  readonly name: string;
  readonly bus: Bus;
  readonly caller: ToolCaller;
  /** The working memory of its sessions. */
  readonly memory: WorkingMemory;
  /** Resolves once it runs, which the start of no plugin waits for. */
  readonly agent: Promise<Agent>;
  readonly policy: PolicyHolder<Readers<ServiceFacet>> | undefined;
  readonly log: Logger;
}

/** The additions of a plugin. Disposed of when the agent is, last first. */
export interface AgentParts extends Partial<AsyncDisposable> {
  /** The parts of plugins that this one is made of. */
  readonly also?: readonly AgentParts[] | undefined;
  /**
   * Further tools of an effective caller's sessions, which have to be read first: once for each turn. A turn that had
   * begun before waits until they can be.
   */
  readonly readTools?: ((caller: string) => Promise<(scope: TurnScope) => readonly Tool[]>) | undefined;
  /** Tools of one turn's session, which run in this process. */
  readonly tools?: ((scope: TurnScope) => readonly Tool[]) | undefined;
  /**
   * True if these tools reach nothing but the session and its family: each session has them, whatever its definition
   * names.
   * @default false
   */
  readonly isOfSession?: boolean | undefined;
  /**
   * True if a call may use the turn's whole time, as it makes calls itself.
   * @default false: that of one call
   */
  readonly takesTurnsTime?: boolean | undefined;
  /** A layer around each of a turn's calls. */
  readonly layer?: ((scope: TurnScope) => ToolLayer) | undefined;
  /** A layer that makes results fit the model. It is around the others, where the model reads the result. */
  readonly fit?: ((scope: TurnScope) => ToolLayer) | undefined;
  /**
   * The call that a call passes on, as one of `invoke_tool` does: the result is made to fit as that of the call it
   * makes.
   * @default none
   */
  readonly madeBy?: ((scope: TurnScope, call: NamedCall) => NamedCall | undefined) | undefined;
  /** The same for every turn: a part of the system message. */
  readonly instructions?: string | undefined;
  /** For one turn: it stands after what a provider's cache can keep. @param mayUse whether the turn has a tool */
  readonly aside?:
    | ((scope: TurnScope, message: string, mayUse: (tool: string) => boolean) => Promise<Aside | undefined>)
    | undefined;
  /** Teach the model tools of these, each for those who may use the tool, if one is named. */
  readonly guides?: readonly (readonly [guide: ToolGuide, tool?: string])[] | undefined;
  /** Selects the turn's tools that its model is given. It can call the others by name, too. @default all */
  readonly select?: ((scope: TurnScope, tools: readonly TurnTool[]) => readonly TurnTool[]) | undefined;
}

/** A text beside what is asked. One that is untrusted is fenced, no part of the system text, and marks the turn. */
export interface Aside {
  readonly text: string;
  readonly isUntrusted: boolean;
}

/** The turn that something is for. */
export interface TurnScope {
  /** The effective caller. */
  readonly caller: string;
  readonly sessionId: string;
  /** The session that it stems from, through all parents; itself if nobody started it. */
  readonly rootSessionId: string;
  /** The namespace of the session in the working memory of its caller. */
  readonly namespace: string;
  readonly turnId: string;
  readonly origin: "user" | "schedule" | "helper";
  readonly model: Model;
  /** True once it has read untrusted content. */
  readonly hasReadUntrusted: boolean;
  /** For a tool that works by further calls. */
  readonly calls: InnerCalls;
}
