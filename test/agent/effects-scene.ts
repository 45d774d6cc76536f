import { connectBus } from "@rockbot/bus-rabbitmq";
import { connectRedisClaimStore } from "@rockbot/records/claims/redis";
import { type ModelScript, ownVirtualHost, startModelServer, startOwnRedis } from "@rockbot/testing";
import { createToolCaller, serveTools } from "@rockbot/tools";
import { expect } from "vitest";
import { startService } from "../services/start-service.ts";
import { effectTool } from "./effect-tool.ts";

/**
 * What agents that die need around them: a model, a broker, Redis, a caller, and a tool `effect` that may not run
 * twice, whose runs are noted as `{what} {id of the call}`.
 * @param runMs how long the effect takes
 */
export async function openEffectsScene(
  script: ModelScript,
  { caller: agent, runMs }: { readonly caller: string; readonly runMs: number },
) {
  await using opening = new AsyncDisposableStack();
  const model = opening.use(await startModelServer(script));
  const broker = opening.use(await ownVirtualHost());
  const redis = opening.use(await startOwnRedis());
  const bus = opening.use(await connectBus(broker.url, { name: "test" }));
  const claims = opening.use(await connectRedisClaimStore(redis.url));
  const runs: string[] = [];
  const effect = effectTool(async (callId, what) => {
    runs.push(`${what} ${callId}`);
    await new Promise((resolve) => setTimeout(resolve, runMs));
  });
  opening.use(await serveTools(bus, { tools: [effect] }, { service: "effects", claims }));
  const caller = opening.use(await createToolCaller(bus, { agent }));
  const servers = { BUS_URL: broker.url, REDIS_URL: redis.url };
  const env = { ...servers, MODEL_URL: model.url, MODEL: model.model, MODEL_API_KEY: model.apiKey };
  const agents = opening.use(new AsyncDisposableStack());
  const open = opening.move();
  return {
    model,
    bus,
    caller,
    runs,
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
