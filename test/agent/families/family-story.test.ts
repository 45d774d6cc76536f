import { configSchema as agentSchema, startAgentService } from "@rockbot/agent-service";
import { createMemoryBus } from "@rockbot/bus";
import type { FamilyTurn } from "@rockbot/contracts";
import { loadConfig } from "@rockbot/process/config";
import { startTelemetry } from "@rockbot/process/telemetry";
import { startModelServer, startOtlpCollector, temporaryFolder } from "@rockbot/testing";
import { createToolCaller, serveTools } from "@rockbot/tools";
import { beforeAll, expect, test, vi } from "vitest";
import { stringify } from "yaml";
import { startA2a } from "../../../services/a2a/src/index.ts";
import { configSchema as a2aSchema } from "../../../services/a2a/src/settings.ts";
import { pythonWithA2a } from "../../a2a/python-sdk.ts";
import { startPythonAgent } from "../../a2a/start-python-agent.ts";
import { effectTool } from "../effect-tool.ts";
import { storyAgents, storyAnswer, storyEffects, storyStep, treeOf } from "./family-story.ts";

let found: Awaited<ReturnType<typeof pythonWithA2a>>;
beforeAll(async () => {
  found = await pythonWithA2a();
}, 300_000);

const noDatabase = (): never => {
  throw new Error("without a database URL robots are in SQLite");
};

// Long because: it starts the parts of a system one by one, and looks at one story from all sides
test("in one process a family works with an agent elsewhere, a wisp and a whiteboard: one answer, one tree, one trace, one sum of tokens", async ({
  skip,
}) => {
  if ("missing" in found) return skip(found.missing);
  await using collector = await startOtlpCollector();
  for (const [name, value] of Object.entries(collector.env)) vi.stubEnv(name, value);
  using folder = temporaryFolder();
  await using elsewhere = await startPythonAgent(found.python, "HTTP+JSON");
  await using model = await startModelServer(storyStep);
  const runs: string[] = [];
  {
    await using _telemetry = await startTelemetry({ service: "everything", logLevel: "silent" });
    await using bus = createMemoryBus();
    await using _effects = await serveTools(
      bus,
      { tools: [effectTool((_id, what) => void runs.push(what))] },
      { service: "effects" },
    );
    const a2aAgentsFile = folder.write("well-known-agents.json", { agents: { echo: { url: elsewhere.url } } });
    const reached = { a2aAgentsFile, allowAddresses: [new URL(elsewhere.url).host] };
    await using _a2a = await startA2a(bus, loadConfig(a2aSchema, { env: {}, overrides: reached }), {
      service: "a2a",
      topic: "tool.invoke.a2a",
      env: {},
    });
    const env = {
      MODEL_URL: model.url,
      MODEL: model.model,
      MODEL_API_KEY: model.apiKey,
      AGENTS_FILE: folder.write("agents.yaml", stringify(storyAgents("gateway"))),
      DATA_DIRECTORY: folder.path,
    };
    await using _agent = await startAgentService(bus, loadConfig(agentSchema, { env }), {
      service: "agent",
      topic: "tool.invoke.agent",
      connectRecords: noDatabase,
    });
    await using caller = await createToolCaller(bus, { agent: "gateway" });
    await caller.discovered();

    const { content, structured } = await caller.call(
      "agent__chat",
      { message: "Start task-0-0", session_id: "story" },
      { timeoutMs: 60_000 },
    );
    expect(content).toBe(storyAnswer("task-0-0"));
    expect(runs.toSorted()).toEqual(storyEffects("task-0-0").toSorted());

    const { turns } = (await caller.call("agent__family", { session_id: "story" })).structured as {
      readonly turns: readonly FamilyTurn[];
    };
    expect(treeOf(turns)).toEqual([
      "session ended: agent__coordinator 1",
      "  coordinator ended: agent__final_report 1, agent__miner 1, agent__scout 1, whiteboard_read 2",
      "    scout ended: agent__final_report 1, effect 1, invoke_agent 1, whiteboard_write 1",
      "    miner ended: agent__final_report 1, effect 5, spawn_wisps 1, whiteboard_write 1",
    ]);
    const used = model.requests.reduce((sum, { inputTokens }) => sum + inputTokens, 0);
    expect((structured as { readonly usage: { readonly input_tokens: number } }).usage.input_tokens).toBe(used);
  } // which sends what is left
  vi.unstubAllEnvs();

  const spans = collector.spans();
  const turnSpans = spans.filter(({ name }) => name.startsWith("invoke_agent"));
  const effects = spans.filter(({ name }) => name.includes("effect"));
  expect(turnSpans).toHaveLength(4);
  expect(effects.length).toBeGreaterThanOrEqual(storyEffects("").length);
  expect(new Set([...turnSpans, ...effects].map(({ traceId }) => traceId)).size).toBe(1);
});
