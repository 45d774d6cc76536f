/** Bounds of an agent's turns. */
export interface AgentLimits {
  /** Calls of one turn that run at once. @default 8 */
  readonly maxParallelCalls: number;
  /** How long one call may take, in milliseconds. @default 300_000 */
  readonly callTimeoutMs: number;
  /** Turns of a session that wait. @default 32 */
  readonly maxWaiting: number;
  /** Tokens that one turn may use, of the model's input and output together. @default 1_000_000 */
  readonly maxTokens: number;
  /** Time that a turn keeps for its last answer, in milliseconds; a fifth of its time at most. @default 30_000 */
  readonly answerReserveMs: number;
  /** How long a turn waits for a store that is away, in milliseconds. @default 10_000 */
  readonly storePatienceMs: number;
  /** How long a process that shows no sign of life keeps its turns. @default 10_000 */
  readonly leaseMs: number;
}

const DEFAULTS: AgentLimits = {
  maxParallelCalls: 8,
  callTimeoutMs: 300_000,
  maxWaiting: 32,
  maxTokens: 1_000_000,
  answerReserveMs: 30_000,
  leaseMs: 10_000,
  storePatienceMs: 10_000,
};

/** @throws {RangeError} if a limit makes no sense */
export function limitsOf(given: Partial<AgentLimits> = {}): AgentLimits {
  const limits = { ...DEFAULTS, ...given };
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || value < 0)
      throw new RangeError(`Cannot create an agent: ${name} must be a whole number, got ${value}`);
  }
  return limits;
}
