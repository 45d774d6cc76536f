import type { Attributes } from "@opentelemetry/api";

/** At most this many are kept: callers choose names. */
const MAX_LABELS = 1_000;

/** Labels of measurements by the tool's name, each made once: where the same frozen object comes again nobody has to look into it. */
export function frozenLabels(make: (toolName: string) => Attributes): (toolName: string) => Attributes {
  const known = new Map<string, Attributes>();
  return (toolName) => {
    const found = known.get(toolName);
    if (found !== undefined) return found;
    if (known.size >= MAX_LABELS) known.clear();
    const labels = Object.freeze(make(toolName));
    known.set(toolName, labels);
    return labels;
  };
}
