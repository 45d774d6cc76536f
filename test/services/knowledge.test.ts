import { execFileSync } from "node:child_process";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { ownVirtualHost, postgresMissing, startOwnPostgres, startOwnRedis, temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { runCli, startCli } from "../../packages/cli/src/test-cli.ts";
import { startService } from "./start-service.ts";

const missing = await postgresMissing();

test("the knowledge tools work over RabbitMQ, and keep what was saved over a restart of their service", {
  timeout: 120_000,
}, async () => {
  using folder = temporaryFolder();
  await using broker = await ownVirtualHost();
  await using redis = await startOwnRedis();
  const env = { BUS_URL: broker.url, REDIS_URL: redis.url, DATA_DIRECTORY: folder.path, OFFER_SEARCH: "true" };
  await using bus = await connectBus(broker.url, { name: "test" });
  await using caller = await createToolCaller(bus, { agent: "gateway" });
  const by = (name: string) => ({ onBehalfOf: name, timeoutMs: 30_000 });
  await using first = await startService("knowledge-tools", env);
  const saved = await caller.call(
    "knowledge_save",
    { title: "Checklist", body: "Tag the release.", space: "shared" },
    by("alice"),
  );
  const { id } = saved.structured as { id: string };
  first.kill("SIGKILL");
  await first.ended;
  await using _second = await startService("knowledge-tools", env);
  for (const name of ["knowledge_search", "search"])
    expect(
      (await caller.call(name, { query: "release", authors: ["Alice", "eve"] }, by("bob"))).structured,
    ).toMatchObject({
      items: [{ id, title: "Checklist" }],
      errors: [expect.stringContaining('invalid authors: "eve"')],
    });
  expect((await caller.call("knowledge_get", { id }, by("bob"))).structured).toMatchObject({
    body: "Tag the release.",
    owner: "alice",
  });
  await expect(caller.call("knowledge_save", { id, title: "Mine" }, by("bob"))).rejects.toMatchObject({
    code: "denied",
  });
});

test.skipIf(missing !== undefined)(
  `two instances over one PostgreSQL see each other's items, and each what the other announces${missing === undefined ? "" : `: skipped, as ${missing}`}`,
  { timeout: 240_000 },
  async () => {
    await using broker = await ownVirtualHost();
    await using redis = await startOwnRedis();
    await using postgres = await startOwnPostgres();
    const env = { BUS_URL: broker.url, REDIS_URL: redis.url, DATABASE_URL: await postgres.ownDatabase() };
    await using bus = await connectBus(broker.url, { name: "test" });
    await using caller = await createToolCaller(bus, { agent: "gateway" });
    await using one = await startService("knowledge-tools", env);
    await using _two = await startService("knowledge-tools", env);
    const save = (i: number) =>
      caller.call(
        "knowledge_save",
        { title: `Item ${i}`, body: "the words", categories: ["Seen"], space: "shared" },
        { timeoutMs: 60_000 },
      );
    await Promise.all(Array.from({ length: 20 }, (_, i) => save(i)));
    one.kill("SIGTERM");
    expect(await one.ended).toBe(0);
    const found = await caller.call(
      "knowledge_search",
      { query: "words", max_results: 50 },
      { onBehalfOf: "bob", timeoutMs: 60_000 },
    );
    expect((found.structured as { items: unknown[] }).items).toHaveLength(20);
    const schema = () => caller.toolsOf("bob").find(({ name }) => name === "knowledge_search")?.parametersSchema ?? "";
    await expect.poll(schema, { timeout: 60_000 }).toContain("There are: Seen. Others are taken, too.");
  },
);

const WRITERS = 10;
/** The lines of each writer: enough that all write at the same time. */
const EACH = 300;

test.skipIf(missing !== undefined)(
  `a PostgreSQL has nothing of an import that is killed half-way, and all of ten processes that write at once${missing === undefined ? "" : `: skipped, as ${missing}`}`,
  { timeout: 240_000 },
  async () => {
    using folder = temporaryFolder();
    await using postgres = await startOwnPostgres();
    const options = {
      folder: folder.path,
      env: { DATABASE_URL: await postgres.ownDatabase(), BUSY_TIMEOUT_MS: "120000" },
    };
    const lines = (writer: number, count: number): string =>
      Array.from(
        { length: count },
        (_, i) =>
          `${JSON.stringify({ id: `${writer}-${i}`, title: `Title ${i}`, body: "the words", category: "News" })}\n`,
      ).join("");
    const exported = async () =>
      (await runCli(["knowledge", "export"], options)).stdout.split("\n").filter(Boolean).length;

    const pipe = join(folder.path, "pipe.jsonl");
    execFileSync("mkfifo", [pipe]);
    {
      await using child = startCli(["knowledge", "import", pipe], options);
      // A pipe holds less than all of it: once it is written most of it has been read, and part of that saved, and no
      // end is in sight.
      const failed = child.ended.then(({ stderr }) =>
        Promise.reject(new Error(`The import ended before it had read: ${stderr}`)),
      );
      await using input = await Promise.race([open(pipe, "w"), failed]);
      await input.writeFile(lines(0, 8_000));
      child.kill("SIGKILL");
      expect(await child.ended).toMatchObject({ code: null, stderr: "" });
    }
    expect(await exported()).toBe(0);

    const ended = Array.from({ length: WRITERS }, (_, writer) => {
      const file = folder.write(`items-${writer}.jsonl`, lines(writer, EACH));
      return runCli(["knowledge", "import", file, "--owner", `writer-${writer}`], options);
    });
    for (const { code, stderr } of await Promise.all(ended))
      expect([code, stderr]).toEqual([0, expect.stringContaining(`${EACH} new`)]);
    expect(await exported()).toBe(WRITERS * EACH);
    const found = await runCli(["call", "knowledge_search", '{"query":"words","categories":["news"]}'], options);
    expect(found.stdout).toContain("1. Title");
    expect(found.stdout).not.toContain("Errors:");
  },
);
