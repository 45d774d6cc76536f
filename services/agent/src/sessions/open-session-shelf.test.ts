import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createMemoryTurnStore } from "@rockbot/agent";
import { createMemoryBus, silentLogger } from "@rockbot/bus";
import { loadConfig } from "@rockbot/process/config";
import { startModelServer, temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import { startAgentService } from "../agent-service.ts";
import { configSchema } from "../generated/config.ts";
import { openSqliteAgentRecords } from "../records/sqlite/sqlite-agent-records.ts";
import { openSessionShelf } from "./open-session-shelf.ts";

const connectRecords = () => Promise.reject(new Error("no test needs another database"));

test("a conversation without Redis goes on after a restart, unless a setting says that it does not", async () => {
  using folder = temporaryFolder();
  await using model = await startModelServer(({ messages }) => ({
    text: `I have ${messages.filter(({ role }) => role === "user").length}`,
  }));
  const settings = {
    MODEL_URL: model.url,
    MODEL: model.model,
    MODEL_API_KEY: model.apiKey,
    DATA_DIRECTORY: folder.path,
  };
  /** One process, from its start to its end. */
  async function say(message: string, env: Readonly<Record<string, string>> = {}) {
    await using bus = createMemoryBus();
    const config = loadConfig(configSchema, { env: { ...settings, ...env } });
    await using _agent = await startAgentService(bus, config, {
      service: "agent",
      topic: "tool.invoke.agent",
      connectRecords,
    });
    await using caller = await createToolCaller(bus, { agent: "gateway" });
    await caller.discovered();
    return (await caller.call("agent__chat", { session_id: "s", message })).content;
  }

  expect([await say("One"), await say("Two")]).toEqual(["I have 1", "I have 2"]);
  expect([await say("Three", { KEEP_SESSIONS: "false" }), await say("Three")]).toEqual(["I have 1", "I have 3"]);
});

test("a question that a killed process has not answered is remembered as interrupted, and one that is answered is not", async () => {
  using folder = temporaryFolder();
  const never = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const read: string[][] = [];
  await using model = await startModelServer(async ({ messages }) => {
    const said = messages.flatMap(({ role, text }) => (role === "system" ? [] : [text]));
    read.push(said);
    if (said.at(-1) !== "Send the mail") return { text: "Yes." };
    reached.resolve();
    await never.promise;
    return { text: "Too late." };
  });
  const env = { MODEL_URL: model.url, MODEL: model.model, MODEL_API_KEY: model.apiKey, DATA_DIRECTORY: folder.path };
  async function start(started: AsyncDisposableStack) {
    const bus = started.use(createMemoryBus());
    started.use(
      await startAgentService(bus, loadConfig(configSchema, { env }), {
        service: "agent",
        topic: "tool.invoke.agent",
        connectRecords,
      }),
    );
    const caller = started.use(await createToolCaller(bus, { agent: "gateway" }));
    await caller.discovered();
    return (message: string) => caller.call("agent__chat", { session_id: "s", message });
  }

  await using killed = new AsyncDisposableStack(); // never closed before the next one starts, as when it is killed
  using _end = { [Symbol.dispose]: () => never.resolve() };
  const ask = await start(killed);
  await ask("Remember alpha");
  void ask("Send the mail").catch(() => {});
  await reached.promise;
  await using next = new AsyncDisposableStack();
  await (await start(next))("What did I ask last?");

  expect(read.at(-1)).toEqual([
    "Remember alpha",
    "Yes.",
    "Send the mail",
    expect.stringContaining("may have run"),
    "What did I ask last?",
  ]);
});

test("what a killed process has kept is there for the next, within the bounds of sessions, and events go on counting", async () => {
  using folder = temporaryFolder();
  const config = { dataDirectory: folder.path, busyTimeoutMs: 1_000 };
  await using shelf = await openSessionShelf(config, silentLogger); // never closed before the next one opens, as when it is killed
  const before = createMemoryTurnStore({ shelf });
  const key = (sessionId: string) => ({ caller: "alice", sessionId });
  await before.addEvents(key("b"), "t", [{ at: new Date().toISOString(), kind: "notice", text: "." }], 0);
  for (const id of ["a", "b", "c"])
    await before.note(key(id), { role: "user", content: `in ${id}`, at: 1, isUntrusted: true });
  await shelf.put({ ...key("old"), usedAt: 1, sequence: 1, history: [{ role: "user", content: "long ago", at: 1 }] });

  await using again = await openSessionShelf(config, silentLogger);
  const after = createMemoryTurnStore({ shelf: again, maxSessions: 2 });
  expect(await after.history(key("b"))).toEqual([{ role: "user", content: "in b", at: 1, isUntrusted: true }]);
  expect((await after.events(key("b"), 0, 10)).last).toBe(1);
  expect(await after.history(key("c"))).toHaveLength(1);
  await expect.poll(() => again.sessions().map(({ sessionId }) => sessionId)).toEqual(["b", "c"]);
});

test("an agent that cannot read what lies there begins anew, and its log says so", async () => {
  using folder = temporaryFolder();
  const warned: unknown[] = [];
  const log = { ...silentLogger, warn: (fields: object) => void warned.push(fields) };
  await using shelf = await openSessionShelf({ dataDirectory: folder.path, busyTimeoutMs: 1_000 }, log);
  await shelf.put({ caller: "alice", sessionId: "s", usedAt: Date.now(), sequence: 1, history: [] });
  using database = new DatabaseSync(join(folder.path, "sessions.db"));
  database.exec("UPDATE session SET history = '['");
  const store = createMemoryTurnStore({ shelf });
  await store.note({ caller: "alice", sessionId: "s" }, { role: "user", content: "Hello", at: 1 });
  expect(warned).toEqual([{ reason: expect.stringContaining("JSON") }]);
  expect(shelf.sessions()).toMatchObject([{ sessionId: "s", history: [{ content: "Hello" }] }]);
});

test("an agent that cannot write where its conversations lie answers, and its log says so", async () => {
  using folder = temporaryFolder();
  await using model = await startModelServer(() => ({ text: "Hello." }));
  const env = {
    MODEL_URL: model.url,
    MODEL: model.model,
    MODEL_API_KEY: model.apiKey,
    DATA_DIRECTORY: folder.write("file", ""),
    DATABASE_URL: "postgres://x/y",
  };
  using elsewhere = temporaryFolder();
  await using records = await openSqliteAgentRecords(elsewhere.path);
  const warned: string[] = [];
  const log = { ...silentLogger, warn: (_: unknown, text?: string) => void warned.push(String(text)) };
  await using bus = createMemoryBus();
  const config = loadConfig(configSchema, { env });
  await using _agent = await startAgentService(bus, config, {
    service: "agent",
    topic: "tool.invoke.agent",
    connectRecords: async () => records,
    log,
  });

  expect(warned).toEqual(["a conversation could not be kept beyond this process"]);
});
