import { context, propagation } from "@opentelemetry/api";

/** The trace context of now, as `_meta` of a request carries it; empty without a trace. */
export function traceMeta(): Record<string, string> {
  const meta: Record<string, string> = {};
  propagation.inject(context.active(), meta);
  return meta;
}
