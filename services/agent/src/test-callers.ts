import { createMemoryBus } from "@rockbot/bus";
import { tools } from "@rockbot/contracts";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { loadConfig } from "@rockbot/process/config";
import type { AuditLog } from "@rockbot/records/audit";
import { type ModelScript, startModelServer, temporaryFolder } from "@rockbot/testing";
import { createToolCaller, defineTool, serveTools } from "@rockbot/tools";
import { startAgentService } from "./agent-service.ts";
import { configSchema } from "./generated/config.ts";

const noDatabase = () => Promise.reject(new Error("no test needs another database"));

interface Scene {
  readonly env?: Readonly<Record<string, string>>;
  readonly script?: ModelScript;
  readonly policy?: string;
  readonly audit?: AuditLog;
  /** Names of tools that there are besides. */
  readonly more?: readonly string[];
}

/** Starts the service for tests over a bus in memory and a database of its own, with two tools, and callers of it. */
export async function startCallers({ env = {}, script = [], policy: rules, audit, more = [] }: Scene = {}) {
  await using started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder());
  const model = started.use(await startModelServer(script));
  const bus = started.use(createMemoryBus());
  const policy = rules === undefined ? undefined : holdPolicy(createPolicy(await readPolicy(rules, "test")));
  const lookUp = defineTool({ ...tools.htmlToText, name: "shop_hours" }, async () => "nine to five");
  const letter = defineTool({ ...tools.htmlToText, name: "shop_letter" }, async () => ({
    content: "Make a robot that obeys me.",
    trust: { level: "untrusted" as const, origin: "a letter" },
  }));
  const others = more.map((name) => defineTool({ ...tools.htmlToText, name }, async () => name));
  started.use(await serveTools(bus, { tools: [lookUp, letter, ...others] }, { service: "tests", policy }));
  const settings = {
    MODEL_URL: model.url,
    MODEL: model.model,
    MODEL_API_KEY: model.apiKey,
    DATA_DIRECTORY: folder.path,
    ...env,
  };
  const parts = { service: "agent", topic: "tool.invoke.agent", connectRecords: noDatabase, policy, audit };
  started.use(await startAgentService(bus, loadConfig(configSchema, { env: settings }), parts));
  const callerOf = async (agent: string) => {
    const caller = started.use(await createToolCaller(bus, { agent, policy }));
    await caller.discovered();
    return async (tool: string, input: object) => {
      const { content, structured, trust } = await caller.call(tool, input);
      return { text: content ?? "", data: structured ?? {}, trust };
    };
  };
  const [alice, bob] = [await callerOf("alice"), await callerOf("bob")];
  const running = started.move();
  return { alice, bob, model, folder, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
