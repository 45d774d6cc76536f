import { metrics, type UpDownCounter } from "@opentelemetry/api";
import { remembered } from "@rockbot/base";
import type { ToolLayer } from "../define/tool-executor.ts";
import { askedOf } from "../runs/binding.ts";
import { cannotWait, conflict } from "../runs/run-errors.ts";

/**
 * Made with the first call: what is made before telemetry starts, such as while modules load, records nothing for ever.
 */
let counter: UpDownCounter | undefined;
/** The same frozen labels are found at once by who counts. */
const labelsOf = remembered((toolName) => Object.freeze({ tool_name: toolName }));

/**
 * Innermost: says that from here on the tool runs. So a refusal before differs from a failure after. A call that people
 * have to approve runs from its record alone. One that comes here without has lost a race for its id, or is of a tool of
 * the caller's own process, which has no records.
 */
export const start: ToolLayer = (next) => ({
  async execute(request, context) {
    if (context.run !== undefined) await context.run.begins(context.signal);
    else if (askedOf(context.decision, context.input).length > 0)
      throw context.arrival === undefined ? cannotWait(request.toolName) : conflict(request);
    context.onStarted?.();
    counter ??= metrics
      .getMeter("@rockbot/tools")
      .createUpDownCounter("rockbot.tool.running", { description: "Calls that run now, by tool." });
    const running = counter;
    const labels = labelsOf(request.toolName);
    running.add(1, labels);
    try {
      return await next.execute(request, context);
    } finally {
      running.add(-1, labels);
    }
  },
});
