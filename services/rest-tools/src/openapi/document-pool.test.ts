import { silentLogger } from "@rockbot/bus";
import { createPublicFetch } from "@rockbot/edge/outbound";
import { startRecordingServer } from "@rockbot/testing";
import { createMemoryTrustStore } from "@rockbot/trust";
import { expect, test } from "vitest";
import { DocumentPool } from "./document-pool.ts";

const from = {
  name: "shop",
  folder: "/",
  prefix: "shop_",
  naming: "prefixed",
  credential: undefined,
  credentials: new Map(),
  operations: new Map(),
} as const;

test("a document is read again from time to time: what is new or has changed waits, and while it cannot be read the rest stays", async () => {
  const paths: Record<string, object> = {
    "/items": { get: { operationId: "listItems" }, post: { operationId: "addItem" } },
  };
  let isAway = false;
  await using server = await startRecordingServer((_, response) => {
    response.statusCode = isAway ? 503 : 200;
    response.end(JSON.stringify({ openapi: "3.1.0", info: {}, servers: [{ url: "/" }], paths }));
  });
  await using fetch = createPublicFetch({ allowAddresses: [`127.0.0.1:${server.port}`] });
  await using store = createMemoryTrustStore();
  const options = {
    fetch,
    trust: { store },
    pin: "first-sight",
    refreshMs: 50,
    onChange: () => {},
    log: silentLogger,
  } as const;
  await using pool = new DocumentPool(options);
  const seen = () => [
    pool.operations.map(({ toolName }) => toolName),
    pool.held.map(({ toolName }) => toolName),
    pool.faults.length,
  ];

  await pool.apply([{ ...from, document: `${server.url}/openapi.json` }]);
  expect(seen()).toEqual([["rest__shop_listItems", "rest__shop_addItem"], [], 0]);
  paths["/items"] = {
    get: { operationId: "listItems" },
    post: { operationId: "addItem", description: "Adds one, and more." },
    put: { operationId: "putItem" },
  };
  await expect
    .poll(seen, { timeout: 10_000 })
    .toEqual([["rest__shop_listItems"], ["rest__shop_putItem", "rest__shop_addItem"], 0]);
  isAway = true;
  await expect
    .poll(seen, { timeout: 10_000 })
    .toEqual([["rest__shop_listItems"], ["rest__shop_putItem", "rest__shop_addItem"], 1]);
});
