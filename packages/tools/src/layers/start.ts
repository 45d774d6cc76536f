import type { ToolLayer } from "../tool-executor.ts";

/** Innermost: says that from here on the tool runs, so that a refusal before is told from a failure after. */
export const start: ToolLayer = (next) => ({
  execute(request, context) {
    context.onStarted?.();
    return next.execute(request, context);
  },
});
