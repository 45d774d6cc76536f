import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { Keep } from "@rockbot/contracts";
import { type GatewayConfig, configSchema as gatewaySchema, startGateway } from "@rockbot/gateway";
import { loadConfig } from "@rockbot/process/config";
import { connectRedisRunStore } from "@rockbot/runs/redis";
import { sharedRedisUrl } from "@rockbot/testing";
import { createToolCaller, serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import type { WaitingCalls } from "../../packages/console/src/api/types.ts";
import { verifiedHost } from "./verified-broker.ts";
import { connect, POLICY, whoTool } from "./verified-system.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const entry = (name: string): string => {
  const hash = createHash("sha256").update(`of-${name}`).digest("hex");
  return `{ name: ${name}, tokens: [{ hash: "sha256:${hash}" }], may: [decide] }`;
};
const ASKED = `${POLICY.replace("{ name: ops, tokens: [] }", `${entry("ada")}, ${entry("bob")}`)}
approve: [{ tools: ["echo_*"], by: [ada, bob] }]
`;
const REPLICAS = 2;

/** Two replicas of a service whose tool needs an approval, and a gateway, over RabbitMQ and Redis. */
async function startAsking() {
  const started = new AsyncDisposableStack();
  const broker = started.use(await verifiedHost(ASKED));
  const { policy } = broker;
  const url = await sharedRedisUrl();
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  const runs = async () => started.use(await connectRedisRunStore(url, { prefix }));
  let ran = 0;
  const hold = async () => void ran++;
  const serve = async () => {
    const bus = started.use(await connect(broker, "echoes"));
    const options = { service: "echoes", policy, operatorKey: publicKey, runs: await runs(), drainMs: 1 };
    return started.use(await serveTools(bus, whoTool("echo_who", { hold }), options));
  };
  const replicas = await Promise.all(Array.from({ length: REPLICAS }, serve));
  const overrides = { port: 0, agentName: "gateway" };
  const config = loadConfig<GatewayConfig>(gatewaySchema, { env: {}, overrides });
  const bus = started.use(await connect(broker, "gateway"));
  const gateway = started.use(await startGateway(bus, config, { policy, commandKey: privateKey, runs: await runs() }));
  const researcher = started.use(await connect(broker, "researcher"));
  const caller = started.use(await createToolCaller(researcher, { agent: "researcher", policy }));
  await caller.discovered();
  const send = async (path: string, by: string, body?: object) => {
    const headers = { authorization: `Bearer of-${by}`, "content-type": "application/json" };
    const post = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const answer = await fetch(`${gateway.url}/operator/waiting${path}`, { headers, ...post });
    return [answer.status, await answer.json()] as const;
  };
  const list = async () => (await send("", "ada"))[1] as WaitingCalls;
  return {
    caller,
    serve,
    replicas,
    list,
    ran: () => ran,
    one: async () => {
      await expect.poll(async () => (await list()).calls.length, { timeout: 20_000 }).toBe(1);
      return (await list()).calls[0] as WaitingCalls["calls"][number];
    },
    decide: (by: string, { id, shown }: WaitingCalls["calls"][number], verdict: "approve" | "reject") =>
      send(`/${id}`, by, { verdict, shown }),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

test("of operators who approve a call at once one does, over the broker and Redis, and it runs once at one replica", {
  timeout: 120_000,
}, async () => {
  await using system = await startAsking();
  const call = system.caller.call("echo_who", { to: "bob" }, { timeoutMs: 60_000 });
  const one = await system.one();
  expect(one).toMatchObject({ service: "echoes", caller: "researcher", arguments: '{"to":"bob"}', mayDecide: true });
  const decided = await Promise.all(["ada", "bob"].map((by) => system.decide(by, one, "approve")));
  expect(decided.map(([status]) => status).sort()[0]).toBe(200);
  // The other one comes too late: it reads that the call waits no more, or the service says so.
  expect([404, 409]).toContain(decided.map(([status]) => status).sort()[1]);
  expect(await call).toMatchObject({ content: "researcher" });
  expect([system.ran(), (await system.list()).calls]).toEqual([1, []]);
});

test("a kept call waits for its service to run again, and is decided then", { timeout: 120_000 }, async () => {
  await using system = await startAsking();
  const options = { keep: Keep.IfParked, timeoutMs: 1_000, toolCallId: "c0ffee".padEnd(32, "1") };
  await expect(system.caller.call("echo_who", {}, options)).rejects.toMatchObject({ code: "pending" });
  const one = await system.one();
  await Promise.all(system.replicas.map((replica) => replica[Symbol.asyncDispose]()));
  expect(await system.decide("ada", one, "approve")).toEqual([503, { message: expect.stringContaining('"echoes"') }]);
  await system.serve();
  await expect.poll(async () => (await system.decide("ada", one, "approve"))[0], { timeout: 30_000 }).toBe(200);
  await expect.poll(system.ran, { timeout: 20_000 }).toBe(1);
  expect(await system.caller.call("echo_who", {}, { ...options, timeoutMs: 20_000 })).toMatchObject({
    content: "researcher",
  });
  expect(system.ran()).toBe(1);
});
