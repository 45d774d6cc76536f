import { type Context, createContextKey } from "@opentelemetry/api";

const ORIGIN = createContextKey("rockbot.trace.origin");

/**
 * The context with whom the trace in it came from, if that is a stranger: a sampler believes a stranger's flag only up
 * to a rate. Undefined is one of ours.
 */
export const withTraceOrigin = (context: Context, stranger: string | undefined): Context =>
  context.setValue(ORIGIN, stranger);

/** Who has sent the trace in this context, if that is a stranger. */
export const traceOriginOf = (context: Context): string | undefined => context.getValue(ORIGIN) as string | undefined;
