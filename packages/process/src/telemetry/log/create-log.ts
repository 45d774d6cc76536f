import { trace } from "@opentelemetry/api";
import { redact } from "@rockbot/base/redaction";
import { type DestinationStream, type Logger, pino } from "pino";
import { safeFields, safeText } from "./safe-fields.ts";
import { textLine } from "./text-line.ts";

/**
 * Writes one line for each event: level, time, service, trace_id, span_id, the fields, msg. A `Logger` of
 * `@rockbot/bus`.
 */
export type Log = Logger;

/** The least severe events that a log writes. */
export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

export interface CreateLogOptions {
  readonly service: string;
  readonly version?: string | undefined;
  /** @default "info" */
  readonly level?: LogLevel | undefined;
  /** One JSON object a line; or a line of text for a person, plain or with a terminal's colours. @default "json" */
  readonly format?: "json" | "text" | "colours" | undefined;
}

/** Longer lines are cut into several by log collectors (Docker at 16 KiB), which breaks their JSON. */
const MAX_LINE_BYTES = 8192;

/** A log in which the process's secrets and secret-looking values are redacted, and no line exceeds 8 KiB. */
export function createLog(
  destination: DestinationStream,
  { service, version, level = "info", format = "json" }: CreateLogOptions,
): Log {
  const log = pino(
    {
      level,
      base: { service, ...(version === undefined ? {} : { version }) },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // safeFields has made plain objects of errors: pino's own serializer would add their constructor's name.
      serializers: { err: (error: unknown) => error, msg: safeText },
      mixin() {
        const span = trace.getActiveSpan()?.spanContext();
        return span === undefined ? {} : { trace_id: span.traceId, span_id: span.spanId };
      },
      // The one place that sees all fields before pino reads them; `formatters.log` comes after a getter has thrown.
      mixinMergeStrategy: (fields, ids) => ({ ...eventFields(fields), ...ids }),
      hooks: {
        streamWrite(line) {
          const json = redact(Buffer.byteLength(line) > MAX_LINE_BYTES ? shortened(line) : line);
          return format === "json" ? json : redact(textLine(json, { hasColours: format === "colours" }));
        },
      },
    },
    destination,
  );
  // pino writes a child's fields as they are; children inherit this function.
  const { child } = log;
  log.child = function safeChild(this: Log, bindings, options) {
    return child.call(this, eventFields(bindings), options);
  } as typeof child;
  return log;
}

/** What every line has of its process. JSON with one name twice is read as the last one says. */
const ofLine = ["level", "time", "service", "version", "msg"];

/** The fields of an event, also where one has the name of what every line has: `service` is `event_service` then. */
function eventFields(fields: object): Record<string, unknown> {
  const safe = safeFields(fields);
  if (!ofLine.some((name) => Object.hasOwn(safe, name))) return safe;
  return Object.fromEntries(
    Object.entries(safe).map(([name, value]) => [ofLine.includes(name) ? `event_${name}` : name, value]),
  );
}

/** The part of a line that identifies the event, without its fields. */
function shortened(line: string): string {
  const { level, time, service, trace_id, span_id, msg } = JSON.parse(line) as Record<string, unknown>;
  const short = {
    level,
    time,
    service,
    trace_id,
    span_id,
    msg: String(msg).slice(0, 512),
    droppedBytes: Buffer.byteLength(line),
  };
  return `${JSON.stringify(short)}\n`;
}
