/** How large a system is. */
export interface Size {
  readonly services: number;
  /** The number in all services together. */
  readonly tools: number;
  readonly callers: number;
}

/** What the callers of one process are asked to do. */
export interface CallersOrder extends Size {
  readonly amqpUrl: string;
  /** The number of the first of them; `callers` is how many this process has. */
  readonly first: number;
  readonly idleMs: number;
  readonly loopMs: number;
}

/** Once each caller knows each tool. */
export interface CallersReady {
  readonly memory: number;
  /** Bytes of the messages by which they have found the tools. */
  readonly bytes: number;
}
/** What came meanwhile of the messages by which callers and services find each other. */
export interface CallersIdle {
  readonly messages: number;
  readonly bytes: number;
}
export interface CallersDone {
  readonly calls: number;
  readonly elapsedMs: number;
  readonly p99Ms: number;
}

export const growthTool = (service: number, tool: number): string => `growth_${service}_${tool}`;
