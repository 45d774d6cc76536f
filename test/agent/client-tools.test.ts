import { configSchema as agentSchema, startAgentService } from "@rockbot/agent-service";
import { createMemoryBus } from "@rockbot/bus";
import { configSchema as gatewaySchema, startGateway } from "@rockbot/gateway";
import { loadConfig } from "@rockbot/process/config";
import { type ModelServerRequest, type ModelStep, startModelServer } from "@rockbot/testing";
import { serveTools } from "@rockbot/tools";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { effectTool } from "./effect-tool.ts";

/** A model that calls a tool of each side in one answer, and then says what came of both. */
function model({ messages }: ModelServerRequest): ModelStep {
  const results = messages.filter(({ role }) => role === "tool").map(({ text }) => text);
  if (results.length > 0) return { text: `Results: ${results.join(", ")}.` };
  const city = { name: "get_weather", arguments: { city: "Köln" } };
  return { text: "Let me look.", toolCalls: [{ name: "effect", arguments: { what: "noted" } }, city] };
}

test.each([false, true])(
  "OpenAI's client runs its tools in its own loop while the agent runs its own, each once, with stream: %s",
  async (stream) => {
    await using server = await startModelServer(model);
    await using bus = createMemoryBus();
    const effects: string[] = [];
    const effect = effectTool(async (_, what) => void effects.push(what));
    await using _effects = await serveTools(bus, { tools: [effect] }, { service: "effects" });
    const env = { MODEL_URL: server.url, MODEL: server.model, MODEL_API_KEY: server.apiKey };
    await using _agent = await startAgentService(bus, loadConfig(agentSchema, { env }), {
      service: "agent",
      topic: "tool.invoke.agent",
    });
    await using gateway = await startGateway(bus, loadConfig(gatewaySchema, { env: {}, overrides: { port: 0 } }));
    const client = new OpenAI({ apiKey: "none needed", baseURL: `${gateway.url}/v1` });
    const asked: string[] = [];
    const getWeather = {
      type: "function" as const,
      function: {
        name: "get_weather",
        description: "The weather in a city.",
        parameters: { type: "object", properties: { city: { type: "string" } } },
        parse: JSON.parse,
        function: ({ city }: { city: string }) => {
          asked.push(city);
          return `rain in ${city}`;
        },
      },
    };
    const request = {
      model: "rockbot",
      messages: [{ role: "user" as const, content: "What is the weather?" }],
      tools: [getWeather],
    };

    const runner = stream
      ? client.chat.completions.runTools({ ...request, stream })
      : client.chat.completions.runTools(request);

    expect(await runner.finalContent()).toBe("Results: did noted, rain in Köln.");
    expect([effects, asked]).toEqual([["noted"], ["Köln"]]);
    expect(server.requests).toHaveLength(2);
  },
);
