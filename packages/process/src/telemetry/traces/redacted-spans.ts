import type { ReadableSpan, SpanExporter } from "@opentelemetry/sdk-trace";
import { redact, redactValue } from "@rockbot/base/redaction";

/** The exporter, which gets no span with a secret of this process in it: name, status, attributes, events and links. */
export function redactedSpans(exporter: SpanExporter): SpanExporter {
  return {
    export: (spans, done) => exporter.export(spans.map(redacted), done),
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

/** A span's values are getters of its class, so those that stay as they are come from the span itself. */
function redacted(span: ReadableSpan): ReadableSpan {
  const { status } = span;
  return Object.create(span, {
    name: { value: redact(span.name) },
    attributes: { value: redactValue(span.attributes) },
    status: { value: status.message === undefined ? status : { ...status, message: redact(status.message) } },
    events: {
      value: span.events.map((event) => ({
        ...event,
        name: redact(event.name),
        attributes: redactValue(event.attributes),
      })),
    },
    links: { value: span.links.map((link) => ({ ...link, attributes: redactValue(link.attributes) })) },
  }) as ReadableSpan;
}
