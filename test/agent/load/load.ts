/** Where the model of the bench is. */
export interface ModelPlace {
  /** The agent's settings of it. */
  readonly env: Readonly<Record<"MODEL_URL" | "MODEL" | "MODEL_API_KEY", string>>;
  /** Gives how long the requests of each turn took at the server, by the turn's id, and forgets them. */
  readonly timesUrl: string;
}

/** What one process of the bench asks of the agent. */
export interface LoadOptions {
  /** The broker; undefined if the agent and its tool are to run in the process itself. */
  readonly busUrl: string | undefined;
  /** The agent's process, if it is another one. */
  readonly agentPid: number | undefined;
  readonly model: ModelPlace;
  readonly sessions: number;
  /** Tool calls of each turn, made at once. */
  readonly calls: 0 | 2;
  /**
   * How many turns begin in a second, over all sessions; undefined if each session asks again once it has its answer.
   */
  readonly perSecond?: number | undefined;
  /** How long turns begin; undefined if each session asks once, 50 of them at a time. */
  readonly ms?: number | undefined;
}

/** What came of it. */
export interface LoadResult {
  readonly turns: number;
  readonly turnsPerSecond: number;
  /** Turns without the right answer. */
  readonly failed: number;
  /** A turn's time as its caller sees it, without the time of its requests to the model. */
  readonly overheadMs: Spread;
  readonly turnMs: Spread;
  /** Processor time of the agent's process in milliseconds. */
  readonly cpuPerTurnMs: number;
  /** The memory of the agent's process, where it is this one: before and after, each after a collection of garbage. */
  readonly memory: readonly [before: Memory, after: Memory] | undefined;
}

export interface Memory {
  readonly heapUsed: number;
  readonly rss: number;
}

export interface Spread {
  readonly p50: number;
  readonly p99: number;
}

/** What the model says in the end: 400 characters, which it streams in 17 pieces. */
export const TEXT = "The opening hours are from nine to five. ".repeat(10).slice(0, 400);

/** The message of a turn: it tells the model what to do. */
export const messageOf = (turn: string, calls: number): string =>
  `Make ${calls} calls for me, and tell me about the opening hours. [${turn}]`;

export function readMessage(text: string): { readonly turn: string; readonly calls: number } {
  const [, calls = "0", turn = ""] = /Make (\d+) calls .* \[([0-9a-f]{32})\]/.exec(text) ?? [];
  return { turn, calls: Number(calls) };
}

export function spreadOf(figures: readonly number[]): Spread {
  const sorted = figures.toSorted((a, b) => a - b);
  const at = (part: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99) };
}
