import { randomBytes } from "node:crypto";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { ownVirtualHost, startOwnRedis, startPageServer, temporaryFolder } from "@rockbot/testing";
import { createToolCaller, type ToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startService } from "./start-service.ts";

test("processes of one service hold callers to a policy together, and take up a changed one without a restart", {
  timeout: 180_000,
}, async () => {
  using folder = temporaryFolder();
  const file = folder.write(
    "policy.yaml",
    `
everyone: { allow: ["*"] }
callers:
  busy: { rules: [{ tools: [web_browse], rate: { calls: 10, perSeconds: 3600 } }] }
  stranger: { deny: [web_browse] }
`,
  );
  await using broker = await ownVirtualHost();
  await using redis = await startOwnRedis();
  await using pages = await startPageServer({ "/page": { body: "<main>A page</main>" } });
  const env = {
    BUS_URL: broker.url,
    REDIS_URL: redis.url,
    POLICY_FILE: file,
    ALLOW_ADDRESSES: new URL(pages.url).host,
  };
  await using one = await startService("web-tools", env);
  await using _two = await startService("web-tools", env);
  await using gateway = await startService("gateway", {
    BUS_URL: broker.url,
    POLICY_FILE: file,
    AGENT_NAME: "stranger",
    PORT: "0",
  });
  const url = /http:\/\/127\.0\.0\.1:\d+/.exec(gateway.stdout())?.[0] ?? "";
  const listed = async () => (await (await fetch(`${url}/v1/tools`)).text()).includes('"web_browse"');
  await using bus = await connectBus(broker.url);
  await using busy = await createToolCaller(bus, { agent: "busy" });
  await using stranger = await createToolCaller(bus, { agent: "stranger" });
  const browse = (caller: ToolCaller) =>
    caller.call("web_browse", { url: `${pages.url}/page?${randomBytes(4).toString("hex")}` }).then(
      () => "ok",
      ({ code }: { code: string }) => code,
    );

  const ends = await Promise.all(Array.from({ length: 25 }, () => browse(busy)));
  expect(Object.groupBy(ends, (end) => end)).toMatchObject({ ok: { length: 10 }, rate_limited: { length: 15 } });
  expect(await browse(stranger)).toBe("denied");
  expect(await listed()).toBe(false);

  folder.write("policy.yaml", "everyone: { allow: ['*'] }\ncallers: { busy: { deny: [web_browse] } }");
  await expect.poll(() => browse(stranger), { timeout: 20_000 }).toBe("ok");
  await expect.poll(() => listed(), { timeout: 20_000 }).toBe(true);
  await expect
    .poll(async () => new Set(await Promise.all(Array.from({ length: 8 }, () => browse(busy)))), { timeout: 20_000 })
    .toEqual(new Set(["denied"]));

  folder.write("policy.yaml", "callers: { busy: { dny: [web_browse] } }");
  await expect
    .poll(() => one.stdout() + one.stderr(), { timeout: 20_000 })
    .toContain("refused the changed policy file");
  expect(await browse(busy)).toBe("denied");
});
