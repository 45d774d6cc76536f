import { createMemoryBus } from "@rockbot/bus";
import { loadConfig } from "@rockbot/process/config";
import { type ModelServerRequest, type ModelStep, startModelServer, temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startAgentService } from "../agent-service.ts";
import { configSchema } from "../generated/config.ts";

/** The front hands over as its message says; the others say who they are. */
function answer({ messages, toolNames }: ModelServerRequest): ModelStep {
  const name = /^You are (\S+),/.exec(messages[0]?.text ?? "")?.[1] ?? "";
  if (toolNames.includes("router__handoff-to"))
    return { toolCalls: [{ name: "router__handoff-to", arguments: { agent: "back", message: "It is yours." } }] };
  return {
    toolCalls: [
      {
        name: "agent__final_report",
        arguments: { status: "partial", format: "markdown", content: `I am ${name}.`, metadata: { by: name } },
      },
    ],
  };
}

test("a session that a robot hands over is the other robot's in later turns, too, and says how it reports", async () => {
  await using folder = temporaryFolder();
  await using model = await startModelServer(answer);
  await using bus = createMemoryBus();
  const config = loadConfig(configSchema, {
    env: { MODEL_URL: model.url, MODEL: model.model, MODEL_API_KEY: model.apiKey, DATA_DIRECTORY: folder.path },
  });
  const connectRecords = () => Promise.reject(new Error("no test needs another database"));
  await using _agent = await startAgentService(bus, config, {
    service: "agent",
    topic: "tool.invoke.agent",
    connectRecords,
  });
  await using caller = await createToolCaller(bus, { agent: "alice" });
  await caller.discovered();
  const call = async (tool: string, input: object) =>
    (await caller.call(tool, input)).structured as Readonly<Record<string, unknown>>;

  await call("robot_create", { name: "back", playbook: "Work.", tools: [] });
  const { robot_id } = await call("robot_create", {
    name: "front",
    playbook: "Hand over.",
    tools: [],
    destinations: ["back"],
  });
  await call("robot_switch", { robot_id, session_id: "s" });
  const first = await call("agent__chat", { message: "Hello.", session_id: "s" });
  const second = await call("agent__chat", { message: "And now?", session_id: "s" });

  expect([first, second]).toMatchObject(
    [1, 2].map(() => ({
      text: "I am back.",
      finish: "stop",
      report: { status: "partial", format: "markdown", metadata: { by: "back" } },
    })),
  );
  const asked = model.requests.map(({ messages }) => /^You are (\S+),/.exec(messages[0]?.text ?? "")?.[1]);
  expect(asked).toEqual(["front", "back", "back"]);
});
