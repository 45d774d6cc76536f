import type { DefinitionReader } from "@rockbot/agent";
import { type Bus, createMemoryBus } from "@rockbot/bus";
import {
  createEnvelope,
  type Envelope,
  encodeMessage,
  type MessageName,
  type Messages,
  messages,
} from "@rockbot/contracts";
import { loadConfig } from "@rockbot/process/config";
import { type ModelScript, startModelServer } from "@rockbot/testing";
import { createToolCaller, serveTools, type Tool } from "@rockbot/tools";
import { startAgentService } from "./agent-service.ts";
import { configSchema } from "./generated/config.ts";

interface TestAgentOptions {
  readonly tools?: readonly Tool[];
  /** Settings besides the model's. */
  readonly env?: Readonly<Record<string, string>>;
  readonly definitions?: DefinitionReader;
}

/** Starts the whole service in memory for tests, in front of a model server that plays a script. */
export async function startTestAgent(
  script: ModelScript,
  { tools = [], env = {}, definitions }: TestAgentOptions = {},
) {
  await using started = new AsyncDisposableStack();
  const model = started.use(await startModelServer(script));
  const bus = started.use(createMemoryBus());
  const config = loadConfig(configSchema, {
    env: { MODEL_URL: model.url, MODEL: model.model, MODEL_API_KEY: model.apiKey, ...env },
  });
  if (tools.length > 0) started.use(await serveTools(bus, { tools }, { service: "tests" }));
  started.use(await startAgentService(bus, config, { service: "agent", topic: "tool.invoke.agent", definitions }));
  const caller = started.use(await createToolCaller(bus, { agent: "gateway" }));
  await caller.discovered();
  const users = started.use(await hearUsers(bus));
  const open = started.move();
  return { model, bus, caller, ...users, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

/** What a program of users sends and hears. */
async function hearUsers(bus: Bus) {
  const heard: Envelope[] = [];
  const subscription = await bus.subscribe(
    {
      name: "users",
      topics: ["user.response", "user.response.user-proxy", "user.history.response.#", "agent.event.#"],
      kind: "copy",
    },
    async (message) => {
      heard.push(message);
    },
  );
  const bodies = <Name extends MessageName>(name: Name) =>
    heard
      .filter(({ type }) => type === messages[name].type)
      .map((envelope) => ({ ...envelope, body: JSON.parse(Buffer.from(envelope.body).toString()) as Messages[Name] }));
  return {
    heard: bodies,
    finals: () => bodies("AgentReply").filter(({ body }) => body.isFinal !== false),
    send: <Name extends MessageName>(topic: string, name: Name, body: Messages[Name], more: Partial<Envelope> = {}) =>
      bus.publish(
        createEnvelope({
          topic,
          type: messages[name].type,
          source: "user-proxy",
          body: encodeMessage(name, body),
          ...more,
        }),
      ),
    [Symbol.asyncDispose]: () => subscription[Symbol.asyncDispose](),
  };
}
