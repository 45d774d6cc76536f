import { connectBus } from "@rockbot/bus-rabbitmq";
import { ownVirtualHost, startRecordingServer, temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startService } from "./start-service.ts";

test("an endpoint and an operation of a document are called over RabbitMQ, by a service of its own process", {
  timeout: 120_000,
}, async () => {
  await using host = await ownVirtualHost();
  using folder = temporaryFolder();
  await using server = await startRecordingServer();
  const operation = {
    operationId: "getItem",
    parameters: [{ name: "id", in: "path", required: true, schema: { type: "integer" } }],
  };
  folder.write("shop.json", {
    openapi: "3.1.0",
    info: { title: "Shop", version: "1" },
    servers: [{ url: server.url }],
    paths: { "/items/{id}": { get: operation } },
  });
  const REST_CONFIG = folder.write("rest.json", {
    credentials: { shop: { origins: [server.url], env: "SHOP_KEY" } },
    tools: {
      add: {
        url: `${server.url}/items`,
        method: "POST",
        credential: "shop",
        parametersSchema: { properties: { name: { type: "string" } } },
      },
    },
    openapi: { shop: { document: "shop.json", credential: "shop" } },
  });
  const env = {
    BUS_URL: host.url,
    REST_CONFIG,
    SHOP_KEY: "shop-key-0123",
    ALLOW_ADDRESSES: `127.0.0.1:${server.port}`,
    HEALTH_PORT: "0",
  };
  await using service = await startService("rest-tools", env);
  await using bus = await connectBus(host.url);
  await using caller = await createToolCaller(bus, { agent: "tester" });
  await caller.discovered();

  await caller.call("rest__add", { name: "ü" });
  await caller.call("rest__shop_getItem", { id: 7 });
  expect(
    server.take().map(({ method, target, headers, body }) => [method, target, headers.authorization, body.toString()]),
  ).toEqual([
    ["POST", "/items", "Bearer shop-key-0123", '{"name":"ü"}'],
    ["GET", "/items/7", "Bearer shop-key-0123", ""],
  ]);
  expect(service.stdout() + service.stderr()).not.toContain("shop-key-0123");
});
