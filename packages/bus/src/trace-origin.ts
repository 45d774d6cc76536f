import { type Context, createContextKey } from "@opentelemetry/api";

const ORIGIN = createContextKey("rockbot.trace.origin");

/**
 * Notes in a context which stranger has sent the trace in it. A sampler believes strangers only up to a rate.
 * Undefined is one of ours.
 */
export const withTraceOrigin = (context: Context, stranger: string | undefined): Context =>
  context.setValue(ORIGIN, stranger);

/** The stranger who has sent the trace in this context; undefined if one of ours has. */
export const traceOriginOf = (context: Context): string | undefined => context.getValue(ORIGIN) as string | undefined;
