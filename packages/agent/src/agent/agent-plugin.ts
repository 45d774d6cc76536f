import type { Bus, Logger } from "@rockbot/bus";
import type { Model } from "@rockbot/llm";
import type { PolicyHolder } from "@rockbot/policy";
import type { Tool, ToolCaller, ToolLayer } from "@rockbot/tools";

/** Adds something to an agent: tools, layers around calls, or parts of the prompt. */
export interface AgentPlugin {
  readonly name: string;
  /** Called once, at the agent's start, in the order of `use`. */
  start(host: AgentHost): Promise<AgentParts>;
}

/** The agent that a plugin is for. */
export interface AgentHost {
  readonly name: string;
  readonly bus: Bus;
  readonly caller: ToolCaller;
  readonly policy: PolicyHolder | undefined;
  readonly log: Logger;
}

/** The additions of a plugin. Disposed of when the agent is, last first. */
export interface AgentParts extends Partial<AsyncDisposable> {
  /** Tools of one turn's session, which run in this process. */
  readonly tools?: ((scope: TurnScope) => readonly Tool[]) | undefined;
  /** A layer around each of a turn's calls. */
  readonly layer?: ((scope: TurnScope) => ToolLayer) | undefined;
  /** The same for every turn: a part of the system message. */
  readonly instructions?: string | undefined;
  /** Of one turn: it stands after what a provider's cache can keep. */
  readonly aside?: ((scope: TurnScope, message: string) => Promise<string | undefined>) | undefined;
}

/** The turn that something is for. */
export interface TurnScope {
  /** The effective caller. */
  readonly caller: string;
  readonly sessionId: string;
  /** The namespace of the session in the working memory of its caller. */
  readonly namespace: string;
  readonly turnId: string;
  readonly origin: "user" | "schedule";
  readonly model: Model;
  /** The code of the fences around untrusted content in this turn. */
  readonly nonce: string;
  /** Whether it has read untrusted content, by now. */
  readonly hasReadUntrusted: boolean;
}
