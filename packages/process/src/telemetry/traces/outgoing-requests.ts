import { UndiciInstrumentation } from "@opentelemetry/instrumentation-undici";

/**
 * Makes a span of every request that undici sends within a span, Node's own `fetch` included, and sends `traceparent`
 * with it. Works by diagnostics channels, so it also works in a bundle. Spans get neither the query nor the user of a
 * URL, since both can hold secrets.
 */
export function traceOutgoingRequests(): UndiciInstrumentation {
  return new UndiciInstrumentation({
    requireParentforSpans: true, // what a service fetches by itself is no trace: it would do so each second, for nobody
    startSpanHook({ origin, path }) {
      const { protocol, host, pathname, search } = new URL(path, origin);
      return { "url.full": `${protocol}//${host}${pathname}`, "url.query": search === "" ? "" : "[redacted]" };
    },
  });
}
