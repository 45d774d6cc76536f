/** The kinds of commands by which operators read what the agent keeps for a caller. */
export const AgentReading = {
  Sessions: "agent.sessions",
  Transcript: "agent.transcript",
  Memory: "agent.memory",
  MemoryText: "agent.memory.text",
  Wisps: "agent.wisps",
} as const;

/** The caller whose data is read, and the part of it. Each kind reads its own fields. */
export interface AgentReadingBody {
  readonly caller: string;
  /** The session of a transcript. */
  readonly session?: string | undefined;
  /** How the keys of a list begin. @default all keys */
  readonly prefix?: string | undefined;
  /** The key of a text. */
  readonly key?: string | undefined;
  /** Where the part of a text begins, in characters. @default 0 */
  readonly offset?: number | undefined;
  /** The cursor of the page before. @default the first page */
  readonly cursor?: string | undefined;
}

/** Sessions in which a user has spoken, the one last spoken in first. */
export interface SessionPage {
  readonly sessions: readonly {
    readonly session: string;
    /** When the user spoke last, Unix milliseconds. */
    readonly at: number;
    /** How that message begins. */
    readonly said: string;
    readonly isUntrusted: boolean;
  }[];
  readonly cursor?: string;
}

/** The messages of a session, and the turns that it has led to in the last day. */
export interface Transcript {
  /** The oldest first. */
  readonly messages: readonly {
    readonly role: "user" | "assistant" | "system";
    /** Who asked, if no user did. */
    readonly origin?: "schedule" | "helper" | "agent";
    /** Unix milliseconds. */
    readonly at: number;
    readonly text: string;
    /** The text is the beginning of one of `length` characters. */
    readonly isCut: boolean;
    readonly length: number;
    /** The turn had read words of strangers. */
    readonly isUntrusted: boolean;
  }[];
  /** Turns, and those of the agents that they called: a parent before its children, the oldest first. */
  readonly turns: readonly {
    readonly turn: string;
    readonly session: string;
    /** How many calls of agents led to it. */
    readonly depth: number;
    /** The name of the agent; the plain one if absent. */
    readonly agent?: string;
    readonly state: "running" | "ended" | "lost";
    readonly finish?: string;
    /** Unix milliseconds. */
    readonly startedAt: number;
    readonly endedAt?: number;
    readonly calls: number;
    readonly failed: number;
  }[];
  /** Turns that are left out. */
  readonly more: number;
}

/** A text of working memory, without its words. */
export interface MemoryFacts {
  readonly key: string;
  /** Its characters. */
  readonly length: number;
  /** Unix milliseconds. */
  readonly storedAt: number;
  readonly expiresAt: number;
  readonly category?: string;
  readonly tags: readonly string[];
  /** Words of strangers, or made from such. */
  readonly isUntrusted: boolean;
  readonly origin?: string;
}

/** Texts of a caller, by key. */
export interface MemoryPage {
  readonly entries: readonly MemoryFacts[];
  readonly cursor?: string;
}

/** The pipelines that a caller has saved, and those that it may use, without their steps. */
export interface WispList {
  readonly wisps: readonly {
    readonly name: string;
    readonly version: number;
    readonly description: string;
    readonly isOwn: boolean;
    /** Made from words of strangers. */
    readonly isUntrusted: boolean;
  }[];
  /** How many are left out. */
  readonly more: number;
}

/** A part of a text. */
export interface MemoryText extends MemoryFacts {
  readonly text: string;
  readonly offset: number;
  /** Where the next part begins. */
  readonly next?: number;
}
