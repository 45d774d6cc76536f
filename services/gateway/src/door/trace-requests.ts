import { context, metrics, propagation, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import { withTraceOrigin } from "@rockbot/bus";
import { createMiddleware } from "hono/factory";
import { routePath } from "hono/route";
import type { GatewayEnv } from "./guard.ts";

/**
 * Puts each request in a span, part of the client's trace if its `traceparent` says so, and measures how long it took.
 * The flag there, by which the client says that it records its trace, is a stranger's word.
 */
export function traceRequests() {
  const tracer = trace.getTracer("@rockbot/gateway");
  const duration = metrics
    .getMeter("@rockbot/gateway")
    .createHistogram("rockbot.gateway.request.duration", { unit: "ms", description: "From admission to answer" });

  return createMiddleware<GatewayEnv>(async (c, next) => {
    const start = performance.now();
    const { traceparent, tracestate } = c.env.incoming.headers;
    const from = withTraceOrigin(context.active(), c.get("caller") ?? "");
    const parent = propagation.extract(from, { traceparent, tracestate });
    await tracer.startActiveSpan(
      c.req.method,
      { kind: SpanKind.SERVER, attributes: { "http.request.method": c.req.method } },
      parent,
      async (span) => {
        try {
          await next();
        } finally {
          // The pattern, not the path: a path holds whatever the client wrote.
          const route = routePath(c, -1);
          const { status } = c.res;
          span.updateName(`${c.req.method} ${route}`);
          span.setAttributes({ "http.route": route, "http.response.status_code": status });
          if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
          duration.record(performance.now() - start, { route, status });
        }
      },
    );
  });
}
