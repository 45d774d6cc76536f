import { trace } from "@opentelemetry/api";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { startModelServer } from "@rockbot/testing";
import { expect, test, vi } from "vitest";
import { createModel } from "../create-model.ts";

test("an answer is a span with its tokens and its end, an error one with its code, and neither has words of the conversation", async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const getTracer = vi.spyOn(trace, "getTracer").mockImplementation((name) => provider.getTracer(name));
  await using server = await startModelServer([{ text: "It is noon." }, { status: 401 }]);
  const model = createModel({ url: server.url, apiKey: server.apiKey, model: server.model });
  getTracer.mockRestore();
  const request = { messages: [{ role: "user" as const, content: "What time is it?" }] };

  await model.answer(request);
  await model.answer(request).catch(() => {});

  const [answered, failed] = exporter.getFinishedSpans();
  expect(answered).toMatchObject({
    name: "chat test-model",
    attributes: {
      "gen_ai.provider.name": "openai",
      "gen_ai.request.model": "test-model",
      "gen_ai.response.model": "test-model",
      "server.address": "127.0.0.1",
      "gen_ai.usage.output_tokens": 3,
      "gen_ai.response.finish_reasons": ["stop"],
    },
  });
  expect(failed?.attributes).toMatchObject({ "error.type": "unauthorized" });
  expect(JSON.stringify([answered?.attributes, failed?.attributes])).not.toMatch(/noon|What time/);
});
