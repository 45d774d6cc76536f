import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { type GatewayConfig, configSchema as gatewaySchema, startGateway } from "@rockbot/gateway";
import { loadConfig } from "@rockbot/process/config";
import { connectRedisRunStore } from "@rockbot/runs/redis";
import { sharedRedisUrl } from "@rockbot/testing";
import { serveTools, type ToolSet } from "@rockbot/tools";
import { expect } from "vitest";
import type { WaitingCalls } from "../../packages/console/src/api/types.ts";
import { verifiedHost } from "./verified-broker.ts";
import { connect } from "./verified-system.ts";

type Waiting = WaitingCalls["calls"][number];

/** A list of one token, `of-` and the name. */
export const tokensOf = (name: string): string =>
  `tokens: [{ hash: "sha256:${createHash("sha256").update(`of-${name}`).digest("hex")}" }]`;

/** Replicas of the service `echoes`, whose tools wait for people, and of the gateway, over RabbitMQ and Redis. */
export async function startAsking(text: string, set: ToolSet, { services = 2, gateways = 1 } = {}) {
  const started = new AsyncDisposableStack();
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const broker = started.use(await verifiedHost(text));
  const { policy } = broker;
  const url = await sharedRedisUrl();
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  const runs = async () => started.use(await connectRedisRunStore(url, { prefix }));
  const serve = async () => {
    const bus = started.use(await connect(broker, "echoes"));
    const options = { service: "echoes", policy, operatorKey: publicKey, runs: await runs(), drainMs: 1 };
    return started.use(await serveTools(bus, set, options));
  };
  const replicas = await Promise.all(Array.from({ length: services }, serve));
  const open = async (_: unknown, index: number) => {
    const overrides = { port: 0, agentName: "gateway", instance: String(index) };
    const config = loadConfig<GatewayConfig>(gatewaySchema, { env: {}, overrides });
    const bus = started.use(await connect(broker, "gateway"));
    const options = { policy, commandKey: privateKey, runs: await runs() };
    return started.use(await startGateway(bus, config, options)).url;
  };
  const urls = await Promise.all(Array.from({ length: gateways }, open));
  /** A request to a gateway under the token of somebody: a GET, or a POST of the body. */
  const send = async (path: string, by: string, body?: object, { at = 0, headers = {} } = {}) => {
    const named = { authorization: `Bearer of-${by}`, "content-type": "application/json", ...headers };
    const post = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const answer = await fetch(`${urls[at]}${path}`, { headers: named, ...post });
    return [answer.status, await answer.json()] as const;
  };
  const list = async () => (await send("/operator/waiting", "ada"))[1] as WaitingCalls;
  return {
    broker,
    urls,
    serve,
    replicas,
    send,
    list,
    one: async () => {
      await expect.poll(async () => (await list()).calls.length, { timeout: 20_000 }).toBe(1);
      return (await list()).calls[0] as Waiting;
    },
    decide: (by: string, { id, shown }: Waiting, verdict: "approve" | "reject") =>
      send(`/operator/waiting/${id}`, by, { verdict, shown }),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}
