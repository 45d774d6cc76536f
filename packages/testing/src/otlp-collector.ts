import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";

/** Takes OTLP over HTTP in JSON, as a collector does, and keeps what came. */
export interface OtlpCollector extends AsyncDisposable {
  readonly url: string;
  /** The variables that make a process export here, in JSON, at once instead of every few seconds. */
  readonly env: Readonly<Record<string, string>>;
  /** All spans so far, in the order they came. */
  spans(): readonly CollectedSpan[];
  /** The latest state of each metric of each service. */
  metrics(): readonly CollectedMetric[];
  /** The bodies of all requests so far, as text. */
  received(): string;
  /** Paths and headers of the requests so far. */
  requests(): readonly CollectedRequest[];
}

export interface CollectedSpan {
  /** `service.name` of its process. */
  readonly service: string;
  readonly scope: string;
  readonly name: string;
  readonly kind: "internal" | "server" | "client" | "producer" | "consumer" | "unspecified";
  readonly traceId: string;
  readonly spanId: string;
  /** Absent in a trace's first span. */
  readonly parentSpanId?: string;
  readonly attributes: Attributes;
  readonly durationMs: number;
  readonly status: { readonly code: "unset" | "ok" | "error"; readonly message?: string };
  readonly resource: Attributes;
}

export interface CollectedMetric {
  readonly service: string;
  readonly name: string;
  readonly unit: string;
  readonly points: readonly CollectedPoint[];
}

export interface CollectedPoint {
  readonly attributes: Attributes;
  /** The number of values, for a histogram. */
  readonly value: number;
}

export interface CollectedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

export type Attributes = Readonly<Record<string, unknown>>;

export async function startOtlpCollector(): Promise<OtlpCollector> {
  const requests: CollectedRequest[] = [];
  const spans: CollectedSpan[] = [];
  const metrics = new Map<string, CollectedMetric>();
  const bodies: string[] = [];

  const server = createServer((request, response) => {
    void (async () => {
      const path = request.url ?? "/";
      requests.push({ path, headers: request.headers });
      const body = await buffer(request);
      const isJson = request.headers["content-type"] === "application/json";
      if (!isJson) return response.writeHead(415).end();
      const text = (request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body).toString();
      bodies.push(text);
      const message: unknown = JSON.parse(text);
      if (path === "/v1/traces") {
        spans.push(...readSpans(message as OtlpTraces));
      } else if (path === "/v1/metrics") {
        for (const metric of readMetrics(message as OtlpMetrics))
          metrics.set(`${metric.service} ${metric.name}`, metric);
      } else {
        return response.writeHead(404).end();
      }
      return response.writeHead(200, { "content-type": "application/json" }).end("{}");
    })().catch(() => response.writeHead(400).end());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url,
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_BSP_SCHEDULE_DELAY: "50",
      OTEL_METRIC_EXPORT_INTERVAL: "200",
    },
    spans: () => spans,
    metrics: () => [...metrics.values()],
    received: () => bodies.join("\n"),
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

// The parts of OTLP's JSON that are read. @see https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
interface OtlpTraces {
  resourceSpans: { resource: OtlpAttributes; scopeSpans: { scope: { name: string }; spans: OtlpSpan[] }[] }[];
}
interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: OtlpAttributes["attributes"];
  status: { code?: number; message?: string };
}
interface OtlpMetrics {
  resourceMetrics: { resource: OtlpAttributes; scopeMetrics: { metrics: OtlpMetric[] }[] }[];
}
interface OtlpMetric {
  name: string;
  unit?: string;
  sum?: { dataPoints: OtlpPoint[] };
  gauge?: { dataPoints: OtlpPoint[] };
  histogram?: { dataPoints: OtlpPoint[] };
}
interface OtlpPoint {
  attributes: OtlpAttributes["attributes"];
  asDouble?: number;
  asInt?: string | number;
  count?: string | number;
}
interface OtlpAttributes {
  attributes: { key: string; value: Record<string, unknown> }[];
}

const kinds = ["unspecified", "internal", "server", "client", "producer", "consumer"] as const;
const codes = ["unset", "ok", "error"] as const;

function readSpans({ resourceSpans }: OtlpTraces): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const attributes = readAttributes(resource.attributes);
    return scopeSpans.flatMap(({ scope, spans }) =>
      spans.map((span) => ({
        service: String(attributes["service.name"]),
        scope: scope.name,
        name: span.name,
        kind: kinds[span.kind] ?? "unspecified",
        traceId: span.traceId,
        spanId: span.spanId,
        ...(span.parentSpanId ? { parentSpanId: span.parentSpanId } : {}),
        attributes: readAttributes(span.attributes),
        durationMs: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6,
        status: {
          code: codes[span.status.code ?? 0] ?? "unset",
          ...(span.status.message ? { message: span.status.message } : {}),
        },
        resource: attributes,
      })),
    );
  });
}

function readMetrics({ resourceMetrics }: OtlpMetrics): CollectedMetric[] {
  return resourceMetrics.flatMap(({ resource, scopeMetrics }) => {
    const service = String(readAttributes(resource.attributes)["service.name"]);
    return scopeMetrics.flatMap(({ metrics }) =>
      metrics.map(({ name, unit = "", sum, gauge, histogram }) => ({
        service,
        name,
        unit,
        points: ((sum ?? gauge ?? histogram)?.dataPoints ?? []).map((point) => ({
          attributes: readAttributes(point.attributes),
          value: Number(point.asDouble ?? point.asInt ?? point.count ?? 0),
        })),
      })),
    );
  });
}

/** OTLP wraps each value in its type: `{ "stringValue": "x" }`. */
function readAttributes(attributes: OtlpAttributes["attributes"] = []): Attributes {
  return Object.fromEntries(
    attributes.map(({ key, value }) => {
      const [type = "", it] = Object.entries(value)[0] ?? [];
      if (type === "intValue") return [key, Number(it)];
      if (type !== "arrayValue") return [key, it];
      return [key, (it as { values: Record<string, unknown>[] }).values.map((item) => Object.values(item)[0])];
    }),
  );
}
