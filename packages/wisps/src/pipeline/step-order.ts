import { referencesIn } from "./template.ts";
import type { WispStep } from "./wisp.ts";

/** The steps that a step waits for. */
export function waitsFor({ work, after, forEach, when }: WispStep): readonly string[] {
  const templates = [work.kind === "call" ? work.arguments : work.prompt, forEach?.items, when?.value, when?.to];
  const referred = templates.flatMap((template) => referencesIn(template)).flatMap(({ step }) => step ?? []);
  return [...new Set([...after, ...referred])];
}

/** Puts each step behind those that it waits for, and names the circles that there are. */
export function inOrder(steps: readonly WispStep[]): {
  readonly steps: readonly WispStep[];
  readonly faults: readonly string[];
} {
  const known = new Set(steps.map(({ id }) => id));
  const left = new Map(
    steps.map((step) => [step, new Set(waitsFor(step).filter((id) => known.has(id) && id !== step.id))]),
  );
  const ordered: WispStep[] = [];
  for (;;) {
    const next = [...left].find(([, waits]) => waits.size === 0)?.[0];
    if (next === undefined) break;
    left.delete(next);
    ordered.push(next);
    for (const waits of left.values()) waits.delete(next.id);
  }
  return { steps: ordered, faults: left.size === 0 ? [] : [circleIn(left)] };
}

function circleIn(left: ReadonlyMap<WispStep, ReadonlySet<string>>): string {
  const byId = new Map([...left].map(([step, waits]) => [step.id, waits]));
  const path: string[] = [];
  let id = [...byId.keys()][0] ?? "";
  while (!path.includes(id)) {
    path.push(id);
    id = [...(byId.get(id) ?? [])].find((next) => byId.has(next)) ?? "";
  }
  const circle = [...path.slice(path.indexOf(id)), id];
  const place = [...left.keys()].find((step) => step.id === id)?.place ?? "";
  return `${place}: waits for itself, by ${circle.join(" → ")}. Take one of these references or names in after away`;
}
