import { createHash } from "node:crypto";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { configSchema, startGateway } from "@rockbot/gateway";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { loadConfig } from "@rockbot/process/config";
import { ownVirtualHost } from "@rockbot/testing";
import { expect, test } from "vitest";
import { startEchoService } from "./start-service.ts";

const TOKEN = "of-ops";
const POLICY = `
callers: { gateway: { allow: [echo] } }
operators: [{ name: ops, tokens: [{ hash: "sha256:${createHash("sha256").update(TOKEN).digest("hex")}" }] }]
`;

interface Overview {
  readonly problems: readonly { readonly what: string }[];
  readonly services: readonly {
    readonly name: string;
    readonly state: string;
    readonly instances: number;
    readonly backlog: number | null;
    readonly calls: { readonly ended: number; readonly inFlight: number } | null;
  }[];
  readonly calls: { readonly ended: number } | null;
}

async function startOne(busUrl: string) {
  await using started = new AsyncDisposableStack();
  const bus = started.use(await connectBus(busUrl, { name: "gateway" }));
  const config = loadConfig(configSchema, { env: {}, overrides: { port: 0 } });
  const policy = holdPolicy(createPolicy(await readPolicy(POLICY, "policy.yaml")));
  const { url } = started.use(await startGateway(bus, config, { policy }));
  const parts = started.move();
  return {
    echo: async (id: string) => {
      const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ id }) };
      return (await fetch(`${url}/v1/tools/echo/invoke`, init)).status;
    },
    async now(): Promise<Overview> {
      const answer = await fetch(`${url}/operator/overview`, { headers: { authorization: `Bearer ${TOKEN}` } });
      return (await answer.json()) as Overview;
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

test("two gateways show the whole system, of each call one, and both see at once that a service is killed", {
  timeout: 120_000,
}, async () => {
  await using broker = await ownVirtualHost();
  await using one = await startOne(broker.url);
  await using two = await startOne(broker.url);
  await using service = await startEchoService(broker.url);
  await using other = await startEchoService(broker.url);
  const echo = async (gateway: typeof one) => (await gateway.now()).services.find(({ name }) => name === "echo");
  for (const gateway of [one, two])
    await expect
      .poll(() => echo(gateway), { timeout: 30_000 })
      .toMatchObject({ state: "ready", instances: 2, backlog: 0, calls: { ended: 0 } });

  for (let i = 0; i < 10; i++) expect(await (i % 2 === 0 ? one : two).echo(`${i}`)).toBe(200);
  for (const gateway of [one, two])
    await expect
      .poll(() => gateway.now(), { timeout: 30_000 })
      .toMatchObject({ calls: { ended: 10 }, services: [{ name: "echo", calls: { ended: 10, inFlight: 0 } }] });

  other.kill("SIGKILL");
  for (const gateway of [one, two]) await expect.poll(() => echo(gateway)).toMatchObject({ instances: 1 });
  service.kill("SIGKILL");
  for (const gateway of [one, two]) {
    await expect.poll(() => echo(gateway)).toMatchObject({ state: "gone" });
    expect((await gateway.now()).problems).toEqual([
      { level: "error", what: expect.stringContaining("is gone"), next: expect.any(String) },
    ]);
  }
});
