import { existsSync } from "node:fs";
import { join } from "node:path";
import { startOwnRedis, startRecordingServer, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { runHere, startUp } from "./test-cli.ts";

const document = (url: string) => ({
  openapi: "3.1.0",
  info: { title: "Shop", version: "1" },
  servers: [{ url }],
  paths: { "/items": { get: { operationId: "listItems" } } },
});

test("rest check lists every fault with its line, or the tools", { timeout: 60_000 }, async () => {
  using folder = temporaryFolder();
  const options = { folder: folder.path };
  folder.write("shop.json", document("https://shop.example"));
  const good = folder.write(
    "rest.yaml",
    "tools:\n  weather: { url: 'https://weather.example/' }\nopenapi:\n  shop: { document: shop.json }\n",
  );
  const bad = folder.write("bad.yaml", "tools:\n  a: { url: nonsense }\n  b: { urll: x }\n");

  expect(await runHere(["rest", "check", good], options)).toMatchObject({
    code: 0,
    stdout: "rest__weather\nrest__shop_listItems\n",
    stderr: expect.stringMatching(
      /has to be approved: it calls https:\/\/shop\.example.*\n.*2 tools, of 1 endpoint and 1 OpenAPI document/s,
    ),
  });
  expect(await runHere(["rest", "check", bad], options)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/tools\.b, line 3: unknown property/),
  });
});

test("rest try calls one tool from here, and says what is wrong with its arguments", { timeout: 60_000 }, async () => {
  using folder = temporaryFolder();
  await using server = await startRecordingServer();
  const at = [
    "--file",
    folder.write("rest.json", {
      tools: { find: { url: `${server.url}/find`, parametersSchema: { properties: { q: { type: "string" } } } } },
    }),
  ];
  const allow = ["--allow-address", `127.0.0.1:${server.port}`];
  const options = { folder: folder.path };

  expect(await runHere(["rest", "try", "find", '{"q":"a b"}', ...at, ...allow], options)).toMatchObject({
    code: 0,
    stdout: "{}\n",
  });
  expect(server.take()[0]?.target).toBe("/find?q=a%20b");
  expect(await runHere(["rest", "try", "find", '{"q":1}', ...at, ...allow], options)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("q: expected string"),
  });
  expect(await runHere(["rest", "try", "find", ...at], options)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("denied"),
  });
  expect(await runHere(["rest", "try", "fnd", ...at], options)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("rest__find"),
  });
});

test("call and tools start rest-tools when nothing runs and REST_CONFIG names its file, and no other service that lacks its settings", {
  timeout: 60_000,
}, async () => {
  using folder = temporaryFolder();
  await using server = await startRecordingServer();
  folder.write("shop.json", document(server.url));
  const content = {
    tools: { find: { url: `${server.url}/find` } },
    openapi: { shop: { document: "shop.json", origins: [server.url] } },
  };
  const env = { REST_CONFIG: folder.write("rest.json", content), ALLOW_ADDRESSES: `127.0.0.1:${server.port}` };
  const options = { folder: folder.path, env };

  expect(await runHere(["call", "rest__find"], options)).toMatchObject({ code: 0, stdout: "{}\n" });
  expect(await runHere(["call", "rest__shop_listItems"], options)).toMatchObject({ code: 0, stdout: "{}\n" });
  expect(existsSync(join(folder.path, "rest.lock.json"))).toBe(true);
  const { stdout, stderr } = await runHere(["tools"], options);
  expect(stdout).toContain("rest__shop_listItems");
  expect(stdout).not.toContain("linkedin_jobs");
  expect(stderr).toContain("off       linkedin_*. Set LINKEDIN_ROBOTS.");
  expect(stderr).toMatch(/off {7}web_search\. It needs a key of the Brave Search API/);
});

test("mcp approve approves operations of documents in a running system", { timeout: 120_000 }, async () => {
  using folder = temporaryFolder();
  await using server = await startRecordingServer();
  folder.write("shop.json", document(server.url));
  const options = { folder: folder.path };
  const REST_CONFIG = folder.write("rest.json", { openapi: { shop: { document: "shop.json" } } });
  await using _up = await startUp(
    { ...options, env: { REST_CONFIG, ALLOW_ADDRESSES: `127.0.0.1:${server.port}` } },
    [],
  );

  expect(await runHere(["mcp", "approve"], options)).toMatchObject({
    stdout: expect.stringMatching(/rest:shop.*listItems/s),
  });
  const { stderr } = await runHere(["tools"], options);
  expect(stderr).toContain("off       linkedin_*. Set LINKEDIN_ROBOTS.");
  expect(stderr).not.toContain("rest__");
  expect(await runHere(["mcp", "approve", "rest:shop", "--yes"], options)).toMatchObject({ code: 0 });
  await expect
    .poll(async () => (await runHere(["call", "rest__shop_listItems"], options)).stdout, {
      timeout: 20_000,
      interval: 200,
    })
    .toBe("{}\n");
});

test("with nothing running, mcp approve and reject decide of operations in the file that keeps approvals", {
  timeout: 60_000,
}, async () => {
  using folder = temporaryFolder();
  await using server = await startRecordingServer();
  const paths = { "/items": { get: { operationId: "listItems" }, post: { operationId: "addItem" } } };
  folder.write("shop.json", { ...document(server.url), paths });
  const env = {
    REST_CONFIG: folder.write("rest.json", { openapi: { shop: { document: "shop.json" } } }),
    ALLOW_ADDRESSES: `127.0.0.1:${server.port}`,
  };
  const options = { folder: folder.path, env };
  const lockFile = join(folder.path, "rest.lock.json");
  const decide = (...args: string[]) => runHere(["mcp", ...args, "--lock-file", lockFile], options);

  expect(await decide("approve")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`there is no file ${lockFile}`),
  });
  expect((await runHere(["call", "rest__shop_listItems"], options)).stderr).toContain("denied");
  expect(await decide("approve")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/rest:shop.*listItems.*rest:shop.*addItem/s),
  });
  expect(await decide("approve", "rest:shop", "listItems", "--yes")).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("approved"),
  });
  expect(await decide("reject", "rest:shop", "addItem", "--yes")).toMatchObject({ code: 0 });
  expect(await runHere(["call", "rest__shop_listItems"], options)).toMatchObject({ code: 0, stdout: "{}\n" });
  expect((await runHere(["call", "rest__shop_addItem"], options)).stderr).toContain("an operator has refused it");
  for (const more of [
    ["--redis", "redis://localhost"],
    ["--mcp-config", "mcp.json"],
  ])
    expect(await decide("approve", ...more)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("give one of them"),
    });
});

test("mcp approve and reject decide of operations in the Redis that instances share", {
  timeout: 120_000,
}, async () => {
  using folder = temporaryFolder();
  await using server = await startRecordingServer();
  await using redis = await startOwnRedis();
  const paths = { "/items": { get: { operationId: "listItems" }, post: { operationId: "addItem" } } };
  folder.write("shop.json", { ...document(server.url), paths });
  const REST_CONFIG = folder.write("rest.json", { openapi: { shop: { document: "shop.json" } } });
  const options = { folder: folder.path };
  await using _up = await startUp(
    { ...options, env: { REST_CONFIG, ALLOW_ADDRESSES: `127.0.0.1:${server.port}`, REDIS_URL: redis.url } },
    [],
  );
  const decide = (decision: string, tool: string) =>
    runHere(["mcp", decision, "rest:shop", tool, "--yes", "--redis", redis.url], options);

  expect(await decide("approve", "listItems")).toMatchObject({ code: 0, stderr: expect.stringContaining("approved") });
  expect(await decide("reject", "addItem")).toMatchObject({ code: 0 });
  await expect
    .poll(async () => (await runHere(["call", "rest__shop_listItems"], options)).stdout, {
      timeout: 20_000,
      interval: 200,
    })
    .toBe("{}\n");
  await expect
    .poll(async () => (await runHere(["call", "rest__shop_addItem"], options)).stderr, {
      timeout: 20_000,
      interval: 200,
    })
    .toContain("an operator has refused it");
});
