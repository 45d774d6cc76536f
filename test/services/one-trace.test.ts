import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type CollectedSpan, gatewayClient, sharedAmqpUrl, startOtlpCollector } from "@rockbot/testing";
import { expect, test } from "vitest";
import { startService } from "./start-service.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";

test("one trace leads from the caller's request over the bus and the service to the web", {
  timeout: 120_000,
}, async () => {
  const traceparents: unknown[] = [];
  const page = createServer((request, response) => {
    traceparents.push(request.headers["traceparent"]);
    response.writeHead(200, { "content-type": "text/html" }).end("<title>Traced</title><main><p>Traced.</p></main>");
  });
  await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
  const address = `127.0.0.1:${(page.address() as AddressInfo).port}`;
  await using collector = await startOtlpCollector();
  const env = { BUS_URL: await sharedAmqpUrl(), ...collector.env };
  await using _webTools = await startService("web-tools", { ...env, ALLOW_ADDRESSES: address });
  await using gateway = await startService("gateway", { ...env, PORT: "0" });
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(gateway.stdout())?.[0] ?? "";

  const { body } = await gatewayClient(url).call(
    "web_browse",
    { url: `http://${address}/` },
    { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01` },
  );
  expect(body).toMatchObject({ isError: false });
  page.close();
  page.closeAllConnections();

  const inTrace = () => collector.spans().filter(({ traceId }) => traceId === TRACE_ID);
  const path = [
    expect.stringMatching(/^server POST/),
    "producer execute_tool web_browse",
    "consumer execute_tool web_browse",
    "client GET",
  ];
  await expect.poll(() => longestPath(inTrace()), { timeout: 20_000 }).toEqual(path);
  expect(inTrace()).toHaveLength(path.length);
  const messaging = { "messaging.system": "rabbitmq", "messaging.destination.name": "tool.invoke" };
  const tool = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "web_browse",
    "gen_ai.tool.call.id": expect.any(String),
  };
  const [sent, ran] = ["producer", "consumer"].map((kind) => inTrace().find((span) => span.kind === kind)?.attributes);
  expect(sent).toMatchObject({ ...tool, ...messaging, "messaging.operation.type": "send" });
  expect(ran).toMatchObject({ ...tool, ...messaging, "messaging.operation.type": "process" });
  expect(JSON.stringify([sent, ran])).not.toContain(address); // no arguments
  expect(collector.spans().filter(({ traceId }) => traceId !== TRACE_ID)).toEqual([]); // services that announce themselves and look around make none
  expect(traceparents).toEqual([expect.stringContaining(TRACE_ID)]);
  expect(new Set(inTrace().map(({ service }) => service))).toEqual(new Set(["gateway", "web-tools"]));
});

/** The spans from the outgoing request up to the first of its trace, as kind and name, outermost first. */
function longestPath(spans: readonly CollectedSpan[]): string[] {
  const path: string[] = [];
  for (
    let span = spans.find(({ kind }) => kind === "client");
    span !== undefined;
    span = spans.find(({ spanId }) => spanId === span?.parentSpanId)
  ) {
    path.unshift(`${span.kind} ${span.name}`);
  }
  return path;
}
