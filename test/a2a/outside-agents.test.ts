import { connectBus } from "@rockbot/bus-rabbitmq";
import { ownVirtualHost, temporaryFolder } from "@rockbot/testing";
import { createToolCaller, type ToolCaller } from "@rockbot/tools";
import { beforeAll, expect, test } from "vitest";
import { startService } from "../services/start-service.ts";
import { pythonWithA2a } from "./python-sdk.ts";
import { type PythonAgent, startPythonAgent } from "./start-python-agent.ts";

let found: Awaited<ReturnType<typeof pythonWithA2a>>;
beforeAll(async () => {
  found = await pythonWithA2a();
}, 300_000);

/** The service as a process of its own over RabbitMQ, with the agent in its file, and a caller. */
async function startSystem({ url }: PythonAgent): Promise<{ readonly caller: ToolCaller } & AsyncDisposable> {
  await using started = new AsyncDisposableStack();
  const host = started.use(await ownVirtualHost());
  const folder = started.use(temporaryFolder());
  const A2A_AGENTS_FILE = folder.write("well-known-agents.json", {
    agents: { echo: { url, credential: { env: "ECHO_TOKEN" } } },
  });
  const env = {
    BUS_URL: host.url,
    A2A_AGENTS_FILE,
    ALLOW_ADDRESSES: new URL(url).host,
    ECHO_TOKEN: "echo-token-0123",
    HEALTH_PORT: "0",
  };
  const service = started.use(await startService("a2a", env));
  const bus = started.use(await connectBus(host.url));
  const caller = started.use(await createToolCaller(bus, { agent: "tester" }));
  await caller.discovered();
  started.defer(() => expect(service.stdout() + service.stderr()).not.toContain("echo-token-0123"));
  const parts = started.move();
  return { caller, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

test.for(["JSONRPC", "HTTP+JSON"])(
  "an agent by the SDK for Python works, asks back and is cancelled, over %s and RabbitMQ",
  { timeout: 120_000 },
  async (binding, { skip }) => {
    if ("missing" in found) return skip(found.missing);
    await using agent = await startPythonAgent(found.python, binding);
    await using system = await startSystem(agent);
    const invoke = (args: object, options?: Parameters<ToolCaller["call"]>[2]) =>
      system.caller.call("invoke_agent", { agent_name: "echo", ...args }, options);

    expect((await invoke({ message: "Hello ü" })).content).toContain("You said: Hello ü");
    const asked = await invoke({ message: "ask" });
    const { taskId, contextId } = asked.structured as Record<string, string>;
    expect(asked.content).toContain("Which colour?");
    const answered = await invoke({ message: "blue", task_id: taskId, context_id: contextId });
    expect(answered).toMatchObject({
      content: expect.stringContaining("You said: blue"),
      structured: { state: "completed", taskId },
    });
    const giveUp = new AbortController();
    const call = invoke(
      { message: "wait" },
      { signal: giveUp.signal, onProgress: ({ message }) => void (message === "I am at it" && giveUp.abort()) },
    );
    await expect(call).rejects.toMatchObject({ code: "cancelled" });
    await expect.poll(agent.said, { timeout: 20_000 }).toContain("cancelled ");
  },
);
