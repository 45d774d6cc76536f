/** An agent as data. */
export interface AgentDefinition {
  /** By which its store finds it. */
  readonly id?: string | undefined;
  readonly name: string;
  /** For those who may call it. */
  readonly description: string;
  /** How it works, for its own model. */
  readonly playbook: string;
  /** Names and globs. */
  readonly tools: readonly string[];
  readonly model?: string | undefined;
  readonly budgets?:
    | {
        readonly maxTokens?: number | undefined;
        readonly timeoutMs?: number | undefined;
        readonly maxIterations?: number | undefined;
        /** The bound in the currency of the models' prices. */
        readonly maxCost?: number | undefined;
      }
    | undefined;
  /** Definitions that its sessions may be handed over to, by name. */
  readonly destinations?: readonly string[] | undefined;
  /** JSON Schema of its final reports, which are data then. */
  readonly reportSchema?: object | undefined;
  /** The effective caller that wrote it. */
  readonly maker: string;
  /** What bounds it besides: what the session was bounded by that wrote it. @default nothing */
  readonly grant?: string | undefined;
  /** A turn that had read untrusted content has written it. */
  readonly isUntrusted: boolean;
  /** The hash of what a model reads of it. */
  readonly hash: string;
}

/** The definitions that a caller has. */
export interface DefinitionReader {
  /** Its own, and those that are shared with it. The first of a name counts. */
  visibleTo(caller: string): Promise<readonly AgentDefinition[]>;
  /**
   * One of those as it is now; undefined if the caller does not see it any more.
   * @default as it was when the turn began
   */
  currentOf?(caller: string, definition: AgentDefinition): Promise<AgentDefinition | undefined>;
  /** What a session was switched to; `gone` if its caller does not see that any more. */
  ofSession(caller: string, sessionId: string): Promise<AgentDefinition | "gone" | undefined>;
  /**
   * Has a session be one of those that its caller sees, from its next turn on.
   * @default its next turn is what it was before
   */
  switchSession?(caller: string, sessionId: string, definition: AgentDefinition): Promise<void>;
}
