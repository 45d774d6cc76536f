import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { metrics, SpanKind, trace } from "@opentelemetry/api";
import { registerSecret } from "@rockbot/base/redaction";
import { type OtlpCollector, startOtlpCollector } from "@rockbot/testing";
import { fetch as undiciFetch } from "undici";
import { expect, test, vi } from "vitest";
import { type StartTelemetryOptions, startTelemetry } from "./start-telemetry.ts";

/** Telemetry under the given environment, which ends with it. */
async function startWith(env: Readonly<Record<string, string>>, options: Partial<StartTelemetryOptions> = {}) {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const telemetry = await startTelemetry({ service: "example", logLevel: "silent", ...options });
  return {
    ...telemetry,
    async [Symbol.asyncDispose]() {
      await telemetry[Symbol.asyncDispose]();
      vi.unstubAllEnvs();
    },
  };
}

/** A web server that keeps the headers it got. */
async function startSite(status = 200) {
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    headers.push(request.headers);
    response.writeHead(status).end("hello");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    headers,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Takes whatever comes over gRPC, answers OK, and keeps which methods were called. */
async function startGrpcCollector() {
  const paths: string[] = [];
  const sessions = new Set<ServerHttp2Session>();
  const server = createHttp2Server()
    .on("session", (session) => sessions.add(session))
    .on("stream", (stream, headers) => {
      paths.push(String(headers[":path"]));
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
      stream.resume().on("end", () => stream.end(Buffer.alloc(5))); // one message of no bytes
    })
    .listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    paths,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const session of sessions) session.destroy();
    },
  };
}

const spanNames = (collector: OtlpCollector) => collector.spans().map(({ name }) => name);

test("metrics have the process's own and our instruments, with buckets for milliseconds", async () => {
  await using telemetry = await startWith({});
  const meter = metrics.getMeter("test");
  meter.createHistogram("rockbot.tool.invoke.duration", { unit: "ms" }).record(3, { tool_name: "web_browse" });
  meter.createCounter("rockbot.tool.invocations").add(2, { status: "ok" });
  const lines = (await telemetry.metricsText()).split("\n");

  expect(lines).toContain('rockbot_tool_invocations_total{status="ok"} 2');
  expect(lines).toContain('rockbot_tool_invoke_duration_bucket{tool_name="web_browse",le="2"} 0');
  expect(lines).toContain('rockbot_tool_invoke_duration_bucket{tool_name="web_browse",le="5"} 1');
  expect(lines).toContain('rockbot_tool_invoke_duration_bucket{tool_name="web_browse",le="60000"} 1');
  expect(lines).toContainEqual(expect.stringMatching(/^process_resident_memory_bytes [1-9]/));
  expect(lines).toContainEqual(expect.stringMatching(/^process_cpu_user_seconds_total [\d.]+/));
  const names = lines.flatMap((line) => (line.startsWith("# TYPE ") ? [line.split(" ")[2]] : []));
  expect(names).toEqual([...new Set(names)]);
  expect(names).toContain("nodejs_active_resources");
  expect(lines.filter((line) => /^# TYPE \S+_total (?!counter$)/.test(line))).toEqual([]); // as promtool wants it
});

test("a span, the outgoing request inside it, and metrics arrive at the collector; the request carries the trace", async () => {
  await using collector = await startOtlpCollector();
  await using site = await startSite();
  await using _telemetry = await startWith(
    { ...collector.env, OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=test" },
    { version: "1.2.3" },
  );
  const tracer = trace.getTracer("test");
  await tracer.startActiveSpan(
    "execute",
    { kind: SpanKind.CONSUMER, attributes: { tool: "web_browse" } },
    async (span) => {
      await (await undiciFetch(`${site.url}/page?q=canary`)).text();
      span.end();
    },
  );
  metrics.getMeter("test").createCounter("rockbot.tool.invocations").add(1);
  await expect.poll(() => spanNames(collector), { timeout: 5000 }).toEqual(expect.arrayContaining(["execute", "GET"]));
  await expect
    .poll(() => collector.metrics().map(({ name }) => name), { timeout: 5000 })
    .toEqual(
      expect.arrayContaining([
        "rockbot.tool.invocations",
        "process_resident_memory_bytes",
        "http.client.request.duration",
      ]),
    );
  const outer = collector.spans().find(({ name }) => name === "execute");
  const inner = collector.spans().find(({ name }) => name === "GET");

  expect(outer).toMatchObject({
    service: "example",
    scope: "test",
    kind: "consumer",
    attributes: { tool: "web_browse" },
  });
  expect(outer?.parentSpanId).toBeUndefined();
  expect(outer?.resource).toMatchObject({
    "service.version": "1.2.3",
    "deployment.environment": "test",
    "service.instance.id": expect.any(String),
  });
  expect(inner).toMatchObject({
    kind: "client",
    traceId: outer?.traceId,
    parentSpanId: outer?.spanId,
    attributes: { "url.full": `${site.url}/page`, "http.response.status_code": 200 },
  });
  expect(site.headers[0]?.traceparent).toBe(`00-${inner?.traceId}-${inner?.spanId}-01`);
  expect(JSON.stringify([collector.spans(), collector.metrics()])).not.toContain("canary");
  const durations = collector.metrics().find(({ name }) => name === "http.client.request.duration");
  expect(durations?.points[0]?.attributes).toEqual({ "http.request.method": "GET", "http.response.status_code": 200 });
});

test("Node's own fetch is traced as well within a span, and a failed request is a failed span", async () => {
  await using collector = await startOtlpCollector();
  await using site = await startSite(503);
  {
    await using _telemetry = await startWith(collector.env);
    await (await fetch(site.url)).text(); // by the service itself
    await trace.getTracer("test").startActiveSpan("outer", async (span) => {
      await (await fetch(site.url)).text();
      span.end();
    });
  }

  expect(collector.spans().filter(({ name }) => name !== "outer")).toMatchObject([
    { name: "GET", kind: "client", status: { code: "error" } },
  ]);
});

test("disposal flushes what has not been sent", async () => {
  await using collector = await startOtlpCollector();
  {
    await using _telemetry = await startWith({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    });
    trace.getTracer("test").startSpan("last").end();
    metrics.getMeter("test").createCounter("last").add(1);
  }

  expect(spanNames(collector)).toEqual(["last"]);
  expect(collector.metrics()).toContainEqual(
    expect.objectContaining({ name: "last", points: [{ attributes: {}, value: 1 }] }),
  );
});

test("disposal waits two seconds for a collector that does not answer, then gives up", async () => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const telemetry = await startWith({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
  });
  trace.getTracer("test").startSpan("lost").end();
  const started = performance.now();
  await telemetry[Symbol.asyncDispose](); // would not end by itself: the collector never answers
  const waited = performance.now() - started;
  silent.closeAllConnections();
  silent.close();

  expect(waited).toBeGreaterThan(1900);
});

test("without a collector spans have ids and requests carry them, and nothing is sent", async () => {
  await using site = await startSite();
  await using _telemetry = await startWith({});
  const { traceId } = await trace.getTracer("test").startActiveSpan("execute", async (span) => {
    await (await undiciFetch(site.url)).text();
    span.end();
    return span.spanContext();
  });

  expect(traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/);
  expect(site.headers[0]?.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
});

test.each([
  ["always_off", {}, []],
  ["traceidratio", { OTEL_TRACES_SAMPLER_ARG: "0" }, []],
  ["parentbased_traceidratio", { OTEL_TRACES_SAMPLER_ARG: "1" }, ["sampled"]],
  ["nonsense", {}, ["sampled"]],
])("OTEL_TRACES_SAMPLER=%s decides which spans are exported", async (sampler, env, expected) => {
  await using collector = await startOtlpCollector();
  {
    await using _telemetry = await startWith({ ...collector.env, ...env, OTEL_TRACES_SAMPLER: sampler });
    const span = trace.getTracer("test").startSpan("sampled");
    span.end();
    expect(span.spanContext().traceId).not.toBe("0".repeat(32));
  }

  expect(spanNames(collector)).toEqual(expected);
});

test("the standard variables choose what is exported, and under which name", async () => {
  await using collector = await startOtlpCollector();
  {
    await using _telemetry = await startWith({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=a",
      OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
      OTEL_SERVICE_NAME: "renamed",
    });
    trace.getTracer("test").startSpan("one").end();
  }
  expect(collector.spans()).toMatchObject([{ name: "one", service: "renamed" }]);
  expect(collector.requests()).toMatchObject([
    { path: "/v1/traces", headers: { "x-tenant": "a", "content-encoding": "gzip" } },
  ]);
  {
    await using _telemetry = await startWith({
      ...collector.env,
      OTEL_TRACES_EXPORTER: "none",
      OTEL_METRICS_EXPORTER: "none",
    });
    trace.getTracer("test").startSpan("two").end();
  }
  expect(collector.requests()).toHaveLength(1);
});

test("OTLP is sent as protobuf if the variables name no protocol", async () => {
  await using collector = await startOtlpCollector();
  {
    await using _telemetry = await startWith({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    trace.getTracer("test").startSpan("one").end();
  }

  // The collector refuses protobuf, and the first refusal ends the wait for the other.
  const sent = () => collector.requests().map(({ path, headers }) => [path, headers["content-type"]]);
  await expect
    .poll(() => sent().toSorted())
    .toEqual([
      ["/v1/metrics", "application/x-protobuf"],
      ["/v1/traces", "application/x-protobuf"],
    ]);
});

test("OTLP is sent over gRPC if the variables say so", async () => {
  await using collector = await startGrpcCollector();
  {
    await using _telemetry = await startWith({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
    });
    trace.getTracer("test").startSpan("one").end();
  }

  expect(collector.paths.toSorted()).toEqual([
    "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
    "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
  ]);
});

test("what a collector learns of the process does not hold its command line", async () => {
  await using collector = await startOtlpCollector();
  {
    await using _telemetry = await startWith(collector.env);
    trace.getTracer("test").startSpan("one").end();
  }

  const names = Object.keys(collector.spans()[0]?.resource ?? {});
  expect(names).toEqual(expect.arrayContaining(["service.name", "service.instance.id", "os.type"]));
  expect(names.filter((name) => name.startsWith("process."))).toEqual([]);
});

test("OTLP_IF_FOUND exports to a collector whose name has an address", async () => {
  await using collector = await startOtlpCollector();
  {
    await using _telemetry = await startWith({
      ...collector.env,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url.replace("127.0.0.1", "localhost"),
      OTLP_IF_FOUND: "true",
    });
    trace.getTracer("test").startSpan("sent").end();
  }
  expect(spanNames(collector)).toEqual(["sent"]);
});

test("OTEL_SDK_DISABLED leaves the process's metrics, and nothing is sent", async () => {
  await using collector = await startOtlpCollector();
  {
    await using telemetry = await startWith({ ...collector.env, OTEL_SDK_DISABLED: "true" });
    trace.getTracer("test").startSpan("unseen").end();
    expect(await telemetry.metricsText()).toContain("process_resident_memory_bytes");
  }

  expect(collector.requests()).toEqual([]);
});

/** Starts a main in a process of its own, with this package's exports at hand. */
function startMain(source: string, env: Readonly<Record<string, string>> = {}) {
  const index = JSON.stringify(join(import.meta.dirname, "index.ts"));
  const main = `import { trace } from "@opentelemetry/api";\nimport { startTelemetry } from ${index};\n${source}`;
  return spawn(process.execPath, ["--input-type=module", "--eval", main], {
    cwd: import.meta.dirname,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Runs a main to its end. */
async function runMain(source: string, env: Readonly<Record<string, string>> = {}) {
  const child = startMain(source, env);
  const [[code], stdout, stderr] = await Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]);
  const parse = (it: string) =>
    it
      .trimEnd()
      .split("\n")
      .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Record<string, unknown>]));
  return { code, stdout: parse(stdout), stderr: parse(stderr) };
}

test("log lines carry the ids of the active span, and the log outlives the telemetry", async () => {
  const { code, stdout, stderr } = await runMain(`
    const telemetry = await startTelemetry({ service: "example" });
    trace.getTracer("test").startActiveSpan("s", (span) => { telemetry.log.info("inside"); span.end(); });
    telemetry.log.info("outside");
    await telemetry[Symbol.asyncDispose]();
    telemetry.log.info("after");`);

  expect(code).toBe(0);
  expect(stderr).toEqual([]);
  expect(stdout.map(({ msg }) => msg)).toEqual(["inside", "outside", "after"]);
  expect(stdout[0]).toMatchObject({
    trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
  expect(stdout[1]).not.toHaveProperty("trace_id");
});

test("settings of the export that make no sense are warnings, and what can be exported is", async () => {
  await using collector = await startOtlpCollector();
  const { code, stdout } = await runMain(
    `const telemetry = await startTelemetry({ service: "example" });
    trace.getTracer("test").startSpan("one").end();
    await telemetry.metricsText();
    await telemetry[Symbol.asyncDispose]();`,
    { ...collector.env, OTEL_METRIC_EXPORT_INTERVAL: "-1" },
  );

  expect({ code, spans: spanNames(collector) }).toEqual({ code: 0, spans: ["one"] });
  expect(stdout).toEqual([
    expect.objectContaining({ level: "warn", err: expect.stringContaining("OTEL_METRIC_EXPORT_INTERVAL") }),
  ]);
});

test("a command logs to standard error, and what is logged before process.exit is written", async () => {
  const { code, stdout, stderr } = await runMain(`
    const { log } = await startTelemetry({ service: "example", logTo: "stderr" });
    for (let i = 0; i < 500; i += 1) log.info({ i }, "line");
    process.exit(3);`);

  expect({ code, stdout }).toEqual({ code: 3, stdout: [] });
  expect(stderr.map(({ i }) => i)).toEqual(Array.from({ length: 500 }, (_, i) => i));
});

test("a reader that does not keep up costs log lines, which are counted, not the work", async () => {
  const child = startMain(`
    const telemetry = await startTelemetry({ service: "example" });
    for (let i = 0; i < 3000; i += 1) telemetry.log.info({ i, text: "x".repeat(1000) }, "line");
    console.error(await telemetry.metricsText());`);
  const [stderr] = await once(child.stderr, "data"); // standard output is not read until the work is done
  child.stdout.resume();
  await once(child, "exit");

  expect(String(stderr)).toMatch(/^rockbot_log_dropped_total [1-9]\d+$/m);
});

test.for([
  [
    "a collector that is away is one warning, not one for each export",
    { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" },
    1,
  ],
  [
    "a collector that OTLP_IF_FOUND does not find is no warning",
    { OTEL_EXPORTER_OTLP_ENDPOINT: "http://no-such-collector.invalid:4318", OTLP_IF_FOUND: "true" },
    0,
  ],
] as const)("%s", { timeout: 20_000 }, async ([, env, warnings]) => {
  const { code, stdout } = await runMain(
    `const telemetry = await startTelemetry({ service: "example" });
    for (let i = 0; i < 5; i += 1) {
      trace.getTracer("test").startSpan("s").end();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await telemetry[Symbol.asyncDispose]();`,
    { ...env, OTEL_BSP_SCHEDULE_DELAY: "10", OTEL_EXPORTER_OTLP_TIMEOUT: "100" },
  );

  expect(code).toBe(0);
  expect(stdout.filter(({ msg }) => msg === "telemetry is incomplete")).toHaveLength(warnings);
});

test("a secret of the process is in no span, and what shows the collector who we are is such a secret", async () => {
  registerSecret("canary-in-spans");
  await using collector = await startOtlpCollector();
  {
    await using telemetry = await startWith({
      ...collector.env,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20canary-for-collector",
    });
    const span = trace
      .getTracer("test")
      .startSpan("read canary-in-spans", { attributes: { "url.full": "http://host/canary-in-spans" } });
    span.addEvent("canary-in-spans", { list: ["canary-in-spans", "fine"] });
    span.recordException(new Error("canary-for-collector"));
    span.setStatus({ code: 2, message: "canary-in-spans" });
    span.end();
    telemetry.log.info({}, "");
  }
  const spans = collector.spans();

  expect(collector.requests()[0]?.headers["authorization"]).toBe("Bearer canary-for-collector");
  expect(spans).toMatchObject([
    {
      name: "read [redacted]",
      attributes: { "url.full": "http://host/[redacted]" },
      status: { message: "[redacted]" },
    },
  ]);
  expect(collector.received()).toContain("[redacted]");
  expect(collector.received()).not.toContain("canary");
});
