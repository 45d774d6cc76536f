/**
 * A system that stands still until the explorer chooses its next step. The same steps always lead to the same state.
 */
export interface World {
  /**
   * What can happen next, in an order that depends on the state alone. Faults may never come: without them it must get
   * on too.
   */
  steps(): readonly Step[];
  /** The same for two states from which the same can happen. */
  fingerprint(): string;
  /** The rules that this state breaks, in words. */
  brokenRules(): readonly string[];
  end(): Promise<void>;
}

export interface Step {
  readonly name: string;
  readonly isFault: boolean;
  /** Resolves once the system stands still again. */
  take(): Promise<void>;
}

export interface Exploration {
  /** States that differ. */
  readonly states: number;
  readonly steps: number;
  /** The longest way without coming by a state that was seen before. */
  readonly depth: number;
  /** States that nothing but a fault leads out of. */
  readonly ends: number;
}

/** More states than this are a mistake in a fingerprint. */
const MAX_STATES = 500_000;

/**
 * Takes every step from every state that can be reached, depth first. A world cannot be copied, so each new way begins
 * with a new world that is led to where the way parts.
 * @throws {Error} with the steps that lead there, at the first state that breaks a rule
 */
export async function explore(begin: () => Promise<World>): Promise<Exploration> {
  const { stackTraceLimit } = Error;
  using _kept = { [Symbol.dispose]: () => void Object.assign(Error, { stackTraceLimit }) };
  Error.stackTraceLimit = 0; // thousands of errors are made on the way, and the steps say where one comes from
  const seen = new Set<string>();
  /** At each depth which step is taken, of how many. */
  const way: { chosen: number; readonly of: number }[] = [];
  const found = { states: 0, steps: 0, depth: 0, ends: 0 };
  do {
    const world = await begin();
    const names: string[] = [];
    for (let depth = 0; ; depth++) {
      const steps = world.steps();
      if (depth === way.length) {
        const state = world.fingerprint();
        if (seen.has(state)) break;
        seen.add(state);
        found.states++;
        found.depth = Math.max(found.depth, depth);
        if (steps.every(({ isFault }) => isFault)) found.ends++;
        const broken = world.brokenRules();
        if (broken.length > 0) throw new Error(`${broken.join("; ")}\nafter: ${names.join(", ")}`);
        if (found.states > MAX_STATES) throw new Error(`There are more than ${MAX_STATES} states`);
        if (steps.length === 0) break;
        way.push({ chosen: 0, of: steps.length });
      }
      const step = steps[way[depth]?.chosen ?? 0];
      if (step === undefined) throw new Error(`The same steps led elsewhere: ${names.join(", ")}`);
      names.push(step.name);
      await step.take();
      found.steps++;
    }
    await world.end();
  } while (nextWay(way));
  return found;
}

/** Turns to the next step at the deepest place that has one left. @returns false once there is none */
function nextWay(way: { chosen: number; readonly of: number }[]): boolean {
  for (let last = way.at(-1); last !== undefined; last = way.at(-1)) {
    if (++last.chosen < last.of) return true;
    way.pop();
  }
  return false;
}
