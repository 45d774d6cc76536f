import { connectBus } from "@rockbot/bus-rabbitmq";
import { connectRedisClaimStore } from "@rockbot/records/claims/redis";
import { connectRedisRunStore } from "@rockbot/runs/redis";
import { type ModelScript, ownVirtualHost, startModelServer, startOwnRedis } from "@rockbot/testing";
import { createToolCaller, type ServeToolsOptions, serveTools } from "@rockbot/tools";
import { expect } from "vitest";
import { startService } from "../services/start-service.ts";
import { effectTool } from "./effect-tool.ts";

interface EffectsSceneOptions {
  readonly caller: string;
  /** How long the effect takes. */
  readonly runMs: number;
  /** Who may have the effect, and who approves it. @default everybody */
  readonly serving?: Pick<ServeToolsOptions, "policy" | "operatorKey">;
}

/**
 * What agents that die need around them: a model, a broker, Redis, a caller, and a tool `effect` that may not run
 * twice, whose runs are noted as `{what} {id of the call}`.
 */
export async function openEffectsScene(
  script: ModelScript,
  { caller: agent, runMs, serving = {} }: EffectsSceneOptions,
) {
  await using opening = new AsyncDisposableStack();
  const model = opening.use(await startModelServer(script));
  const broker = opening.use(await ownVirtualHost());
  const redis = opening.use(await startOwnRedis());
  const bus = opening.use(await connectBus(broker.url, { name: "test" }));
  const runs = opening.use(await connectRedisRunStore(redis.url));
  const claims = opening.use(await connectRedisClaimStore(redis.url));
  const did: string[] = [];
  const effect = effectTool(async (callId, what) => {
    did.push(`${what} ${callId}`);
    await new Promise((resolve) => setTimeout(resolve, runMs));
  });
  opening.use(await serveTools(bus, { tools: [effect] }, { service: "effects", claims, runs, ...serving }));
  const caller = opening.use(await createToolCaller(bus, { agent }));
  const servers = { BUS_URL: broker.url, REDIS_URL: redis.url };
  const env = { ...servers, MODEL_URL: model.url, MODEL: model.model, MODEL_API_KEY: model.apiKey };
  const agents = opening.use(new AsyncDisposableStack());
  const open = opening.move();
  return {
    model,
    bus,
    caller,
    runs: did,
    /** The settings by which a further service is one of the scene. */
    servers,
    /** Starts one more agent. */
    start: async (more: Readonly<Record<string, string>> = {}) =>
      agents.use(await startService("agent", { ...env, ...more })),
    /** Resolves once the caller knows the agent. */
    served: () => expect.poll(() => caller.tools.getExecutor("agent__chat")).toBeDefined(),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
