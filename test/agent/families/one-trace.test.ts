import { createMemoryBus } from "@rockbot/bus";
import { startTelemetry } from "@rockbot/process/telemetry";
import { type ModelServerRequest, type ModelStep, startModelServer, startOtlpCollector } from "@rockbot/testing";
import { createAgent } from "rockbot/agent";
import { createModel } from "rockbot/model";
import { expect, test, vi } from "vitest";

/** The agent asks its clerk, who looks at its memory and reports. */
function answer({ messages, toolNames }: ModelServerRequest): ModelStep {
  const hasCalled = messages.some(({ role }) => role === "tool");
  if (!toolNames.includes("agent__final_report"))
    return hasCalled ? { text: "done" } : { toolCalls: [{ name: "agent__clerk", arguments: { prompt: "Go." } }] };
  if (!hasCalled) return { toolCalls: [{ name: "list_working_memory" }] };
  return {
    toolCalls: [{ name: "agent__final_report", arguments: { status: "success", format: "text", content: "done" } }],
  };
}

test("the turn of an agent that is called, and its calls, stand below the call in one trace", async () => {
  await using collector = await startOtlpCollector();
  for (const [name, value] of Object.entries(collector.env)) vi.stubEnv(name, value);
  await using model = await startModelServer(answer);
  await using bus = createMemoryBus();
  {
    await using _telemetry = await startTelemetry({ service: "agent", logLevel: "silent" });
    const clerk = {
      name: "clerk",
      description: "Works.",
      playbook: "Work.",
      tools: [],
      maker: "agent",
      isUntrusted: false,
      hash: "1",
    };
    await using agent = await createAgent({
      bus,
      model: createModel({ url: model.url, model: model.model, apiKey: model.apiKey }),
      definitions: { visibleTo: async () => [clerk], ofSession: async () => undefined },
    }).start();
    const { text } = await agent.runTurn({
      caller: "agent",
      sessionId: "s",
      turnId: "t",
      message: "Go.",
      signal: new AbortController().signal,
      deadline: performance.now() + 60_000,
    });
    expect(text).toBe("done");
  } // which sends what is left
  vi.unstubAllEnvs();

  const spans = collector.spans();
  const pathOf = (id: string | undefined): readonly string[] => {
    const span = spans.find(({ spanId }) => spanId === id);
    return span === undefined ? [] : [...pathOf(span.parentSpanId), span.name];
  };
  const paths = spans.map(({ spanId }) => pathOf(spanId).join(" > "));
  expect(paths).toContain(
    "invoke_agent agent > execute_tool agent__clerk > invoke_agent agent > execute_tool list_working_memory",
  );
  expect(paths).toContain(
    "invoke_agent agent > execute_tool agent__clerk > invoke_agent agent > execute_tool agent__final_report",
  );
  expect(new Set(spans.filter(({ name }) => name.startsWith("invoke_agent")).map(({ traceId }) => traceId)).size).toBe(
    1,
  );
});
