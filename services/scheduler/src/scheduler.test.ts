import { join } from "node:path";
import { createMemoryBus } from "@rockbot/bus";
import { createPolicy, defaultPolicySource, holdPolicy, readPolicy } from "@rockbot/policy";
import { loadConfig } from "@rockbot/process/config";
import { temporaryFolder } from "@rockbot/testing";
import { type CallOptions, createToolCaller } from "@rockbot/tools";
import { expect, test } from "vitest";
import type { SchedulerConfig } from "./generated/config.ts";
import { startScheduler } from "./scheduler.ts";
import { check, configSchema } from "./settings.ts";
import { testTask } from "./store/conformance.ts";
import { openFileScheduleStore } from "./store/file/file-schedule-store.ts";
import { MAX_TASK_BYTES } from "./store/schedule-store.ts";
import { serveTestAgent, type TestAgent } from "./test-agent.ts";

type Answer = Parameters<typeof serveTestAgent>[1];

/** A scheduler with its file, a caller, and an agent unless the test wants none. */
async function startScene({
  settings = {},
  answer,
  hasAgent = true,
}: {
  settings?: Partial<SchedulerConfig>;
  answer?: Answer;
  hasAgent?: boolean;
} = {}) {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(temporaryFolder());
  const file = join(folder.path, "schedules.json");
  const bus = stack.use(createMemoryBus());
  const agent: TestAgent | undefined = hasAgent ? stack.use(await serveTestAgent(bus, answer)) : undefined;
  const config = loadConfig(configSchema, {
    env: {},
    overrides: { timezone: "Europe/Berlin", schedulesFile: file, ...settings },
    check,
  });
  stack.use(await startScheduler(bus, config, { service: "scheduler" }));
  const caller = stack.use(await createToolCaller(bus, { agent: "gateway" }));
  const call = async (name: string, args: object, options: CallOptions = { sessionId: "s1" }) =>
    caller.call(name, args, { onBehalfOf: "asker", ...options });
  const parts = stack.move();
  return { call, turns: agent?.turns ?? [], file, bus, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

const news = { name: "news", cron: "0 9 * * 1-5", description: "Say what is new." };
const NINE = Date.UTC(2026, 10, 25, 9);
const everySecond = { ...news, cron: "* * * * * *" };

test("a task is scheduled, listed as a table with the present time, replaced and cancelled", async () => {
  await using scene = await startScene();
  const scheduled = await scene.call("schedule_task", news);
  expect(scheduled.content).not.toContain("No agent");
  expect(scheduled.structured).toMatchObject({
    name: "news",
    cron: news.cron,
    replaced: false,
    run_once: false,
    time_zone: "Europe/Berlin",
  });
  expect(scheduled.structured?.["next_fires"]).toHaveLength(3);
  const table = await scene.call("list_scheduled_tasks", {});
  expect(table.content).toMatch(/^Now: \w{3} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0[12]:00, time zone Europe\/Berlin\.$/m);
  expect(table.content).toMatch(
    /^\| news \| this one \| 0 9 \* \* 1-5 \| \w{3} \d{4}-\d\d-\d\d 09:00:00 \+0[12]:00 \| none \| Say what is new\. \|$/m,
  );
  expect(table.content).toContain("Tasks of this caller: 1 of 50. Today: 0 of 500 fires, 0 of 1000000 tokens.");
  expect(table.trust).toBeUndefined();
  const again = await scene.call("schedule_task", {
    ...news,
    name: " NEWS ",
    cron: "0  8 * * *",
    description: "a | b\nc",
  });
  expect(again.structured).toMatchObject({ name: "NEWS", cron: "0 8 * * *", replaced: true });
  expect((await scene.call("list_scheduled_tasks", {})).content).toContain("| a \\| b c |");
  expect((await scene.call("cancel_scheduled_task", { name: "news" })).structured).toEqual({
    name: "NEWS",
    cancelled: true,
    conversation: "s1",
  });
  expect((await scene.call("cancel_scheduled_task", { name: "news" })).structured).toEqual({
    name: "news",
    cancelled: false,
  });
  expect((await scene.call("list_scheduled_tasks", {})).content).toContain("There are no scheduled tasks");
});

test("a caller lists and cancels its tasks from any conversation, another caller none of them, and a robot's session those of its own", async () => {
  await using scene = await startScene();
  const robot = JSON.stringify([{ kind: "agent", name: "cook", maker: "someone", tools: ["*"] }]);
  const list = async (options: CallOptions) =>
    (await scene.call("list_scheduled_tasks", {}, options)).content?.match(/(?<=\| news \| )[^|]+(?= \|)/g);
  const cancel = async (options: CallOptions, conversation?: string) =>
    (await scene.call("cancel_scheduled_task", { name: "NEWS", conversation: conversation ?? null }, options))
      .structured;
  for (const sessionId of ["s1", "s2"])
    expect((await scene.call("schedule_task", news, { sessionId })).structured).toMatchObject({ replaced: false });

  expect(await list({ sessionId: "session/s2" })).toEqual(["s1", "this one"]);
  for (const options of [{ onBehalfOf: "someone" }, { sessionId: "s3", grant: robot }]) {
    expect(await list(options)).toBeNull();
    expect(await cancel(options, "s1")).toMatchObject({ cancelled: false });
  }
  expect(await list({ sessionId: "s1", grant: robot })).toEqual(["this one"]);
  expect(await list({ sessionId: "s3", grant: "[]" })).toEqual(["s1", "s2"]);
  await expect(cancel({ sessionId: "s2" })).rejects.toThrow(
    'several conversations have a scheduled task "NEWS". Give conversation',
  );
  expect(await cancel({ sessionId: "s2" }, "s1")).toEqual({ name: "news", cancelled: true, conversation: "s1" });
  expect(await cancel({ sessionId: "s3" })).toEqual({ name: "news", cancelled: true, conversation: "s2" });
});

test("of tasks of one name the one that is not over is cancelled, and of one that is over only its answer is removed", async () => {
  await using scene = await startScene({ settings: { shortestIntervalSeconds: 1 } });
  const cancel = async () => scene.call("cancel_scheduled_task", { name: "news" }, { sessionId: "s3" });
  await scene.call("schedule_task", { ...everySecond, run_once: true });
  await expect
    .poll(async () => (await scene.call("list_scheduled_tasks", {})).content, { timeout: 10_000 })
    .toContain("answered: done");
  await scene.call("schedule_task", news, { sessionId: "s2" });

  expect((await cancel()).structured).toEqual({ name: "news", cancelled: true, conversation: "s2" });
  const over = await cancel();
  expect([over.content, over.structured]).toEqual([
    expect.stringContaining("was over"),
    { name: "news", cancelled: false, conversation: "s1" },
  ]);
  expect((await cancel()).content).toContain('There is no scheduled task "news"');
});

test("a fire asks the agent on behalf of the task's caller, and its answer is listed", async () => {
  await using scene = await startScene({ settings: { shortestIntervalSeconds: 1 }, answer: () => "all | quiet" });
  await scene.call("schedule_task", { ...everySecond, run_once: true }, { sessionId: "s1", onBehalfOf: "someone" });
  await scene.call("schedule_task", { ...everySecond, name: "again" });
  await expect.poll(() => scene.turns.length).toBeGreaterThan(2);
  const [once] = scene.turns.filter((turn) => turn.caller === "someone");
  expect(once).toMatchObject({ hasReadUntrusted: false, input: { session_id: "s1", origin: "schedule" } });
  expect(once?.input.message).toMatch(
    /^This scheduled task runs once: "news", at .* \(Europe\/Berlin\)\..*\n\nSay what is new\.$/s,
  );
  expect(scene.turns.filter((turn) => turn.caller === "someone")).toHaveLength(1);
  await expect
    .poll(async () => (await scene.call("list_scheduled_tasks", {}, { onBehalfOf: "someone" })).structured?.["tasks"])
    .toMatchObject([{ conversation: "s1", last_run: { outcome: "answered", text: "all | quiet" } }]); // it has fired, and is there for its answer
  await expect
    .poll(async () => (await scene.call("list_scheduled_tasks", {})).content)
    .toContain("answered: all \\| quiet");
  await scene.call("cancel_scheduled_task", { name: "again" });
  expect(new Set(scene.turns.map((turn) => turn.turnId)).size).toBe(scene.turns.length);
});

test("a fire that is due before the agent is there waits for it, also without a shared store, and runs once", async () => {
  await using scene = await startScene({ settings: { shortestIntervalSeconds: 1 }, hasAgent: false });
  await scene.call("schedule_task", { ...everySecond, run_once: true });
  await expect
    .poll(async () => (await scene.call("list_scheduled_tasks", {})).content, { timeout: 10_000 })
    .toContain("it is asked for again. unavailable: ");
  await using agent = await serveTestAgent(scene.bus);

  await expect
    .poll(async () => (await scene.call("list_scheduled_tasks", {})).content, { timeout: 10_000 })
    .toContain("| none | "); // it has fired
  expect(agent.turns).toHaveLength(1);
});

test("a task that is replaced while a run of it goes on has no second run beside it, and the end of that run is listed", async () => {
  const gate = Promise.withResolvers<string>();
  await using scene = await startScene({ settings: { shortestIntervalSeconds: 1 }, answer: () => gate.promise });
  const list = async () => (await scene.call("list_scheduled_tasks", {})).content ?? "";
  await scene.call("schedule_task", everySecond);
  await expect.poll(() => scene.turns.length).toBe(1);
  await scene.call("schedule_task", { ...everySecond, description: "Say more." });
  await expect.poll(list).toMatch(/running since .*: its last run still went on \| Say more\./);
  expect(scene.turns).toHaveLength(1);
  gate.resolve("quiet");
  await expect.poll(list).toContain("answered: quiet");
  await expect.poll(() => scene.turns.length).toBeGreaterThan(1); // the new one fires
});

test("without an agent a run ends in words, and the next fire comes", async () => {
  await using scene = await startScene({ settings: { shortestIntervalSeconds: 1 }, hasAgent: false });
  expect((await scene.call("schedule_task", everySecond)).content).toContain("No agent is on the bus now");
  await expect
    .poll(async () => (await scene.call("list_scheduled_tasks", {})).content)
    .toMatch(/failed: \w+: .*agent__chat/);
  await using agent = await serveTestAgent(scene.bus);
  await expect.poll(() => agent.turns.length).toBeGreaterThan(0);
});

test("what was made from untrusted content stays so: its runs, and the list that shows it", async () => {
  await using scene = await startScene({ settings: { shortestIntervalSeconds: 1 } });
  await scene.call("schedule_task", everySecond, { sessionId: "s1", hasReadUntrusted: true });
  await expect.poll(() => scene.turns.length).toBeGreaterThan(0);
  expect(scene.turns[0]?.hasReadUntrusted).toBe(true);
  expect((await scene.call("list_scheduled_tasks", {})).trust).toEqual({
    level: "untrusted",
    origin: "scheduled tasks",
  });
});

test("tasks outlive the process, and a run that it left ends in outcome_unknown rather than run twice", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "schedules.json");
  {
    await using store = await openFileScheduleStore(file);
    const running = {
      fireAt: 1_000,
      fireId: "f",
      replica: "gone",
      takenAt: 1_000,
      takeovers: 0,
      message: "do",
      hasReadUntrusted: false,
    };
    const task = testTask({ nextAt: Date.now() + 3_600_000, running });
    await store.write({ key: task.key, caller: task.caller, version: undefined, task });
  }
  await using scene = await startScene({ settings: { schedulesFile: file } });
  await expect
    .poll(async () => (await scene.call("list_scheduled_tasks", {})).content)
    .toContain("outcome_unknown: the scheduler ended while it ran");
  expect(scene.turns).toEqual([]);
});

test("an expression that cannot be read is refused with the nearest one and its next fires", async () => {
  await using scene = await startScene();
  await expect(scene.call("schedule_task", { ...news, cron: "@daily" })).rejects.toMatchObject({
    code: "invalid_arguments",
    message: expect.stringMatching(
      /"@daily" cannot be read: it has 1 field.* Perhaps "0 0 \* \* \*" is meant, which fires next at (.* 00:00:00 .*; ){2}.* 00:00:00 .* \(Europe\/Berlin\)/,
    ),
  });
  await expect(scene.call("schedule_task", { ...news, cron: "soon" })).rejects.toThrow("Five fields are minute, hour");
  await expect(scene.call("schedule_task", { ...news, cron: "0 0 31 2 *" })).rejects.toThrow("never fires");
  await expect(scene.call("schedule_task", { ...news, cron: "0,30 0 9 1 1 *" })).rejects.toThrow(
    "the shortest interval here is 60 seconds",
  );
  expect(
    (await scene.call("schedule_task", { ...news, cron: "0,30 0 9 1 1 *", run_once: true })).structured?.["next_fires"],
  ).toHaveLength(1);
});

test("all that is wrong with the arguments is said at once", async () => {
  await using scene = await startScene();
  await expect(
    scene.call("schedule_task", { name: " ", cron: "", description: "", run_once: "yes" }),
  ).rejects.toMatchObject({
    code: "invalid_arguments",
    details: { faults: [expect.anything(), expect.anything(), expect.anything(), expect.anything()] },
  });
});

test("a caller has at most so many tasks, over all conversations; those that have run once give way to new ones", async () => {
  await using scene = await startScene({ settings: { maxTasks: 2, shortestIntervalSeconds: 1 } });
  for (const name of ["first", "second"]) await scene.call("schedule_task", { ...everySecond, name, run_once: true });
  const list = async () => (await scene.call("list_scheduled_tasks", {})).content;
  await expect.poll(async () => (await list())?.match(/answered: done/g)?.length, { timeout: 10_000 }).toBe(2);
  await scene.call("schedule_task", news);
  await scene.call("schedule_task", news, { sessionId: "s2" });
  await expect(scene.call("schedule_task", news, { sessionId: "s3" })).rejects.toMatchObject({
    code: "denied",
    details: { reason: "too_many_tasks" },
  });
  expect((await scene.call("schedule_task", { ...news, cron: "1 9 * * *" })).structured).toMatchObject({
    replaced: true,
  });
  expect(await list()).toMatch(/news.*\n.*news.*\n\nTasks of this caller: 2 of 2\./);
});

test("answers give way where a caller has no bytes left, and those of other conversations not to a robot's session", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "schedules.json");
  {
    await using store = await openFileScheduleStore(file);
    const run = {
      fireAt: NINE,
      endedAt: NINE,
      outcome: "answered",
      text: "x".repeat(MAX_TASK_BYTES / 4 - 1_000),
      isUntrusted: false,
    } as const;
    for (const name of ["1", "2", "3", "4"]) {
      const task = testTask({
        name,
        nextAt: undefined,
        keptUntil: Date.now() + 3_600_000 + Number(name),
        lastRun: run,
      });
      await store.write({ key: task.key, caller: task.caller, version: undefined, task });
    }
  }
  await using scene = await startScene({ settings: { schedulesFile: file } });
  const long = { ...news, description: "y".repeat(8_000) };
  const robot = JSON.stringify([{ kind: "agent", name: "cook", maker: "someone", tools: ["*"] }]);

  await expect(scene.call("schedule_task", long, { sessionId: "s3", grant: robot })).rejects.toThrow(
    "with their answers, may have",
  );
  expect((await scene.call("schedule_task", long, { sessionId: "s3" })).isError).toBe(false);
  expect((await scene.call("list_scheduled_tasks", {})).content?.match(/^\| \w+(?= \|)/gm)).toEqual([
    "| name",
    "| news",
    "| 2",
    "| 3",
    "| 4",
  ]);
});

test("the last answers of a task are read with its name, whole, from any conversation, and those of strangers' words mark the reader", async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "schedules.json");
  {
    await using store = await openFileScheduleStore(file);
    const run = { fireAt: NINE, endedAt: NINE, outcome: "answered", isUntrusted: false } as const;
    const earlierRuns = [{ ...run, text: "strange", isUntrusted: true }];
    const task = testTask({
      nextAt: Date.now() + 3_600_000,
      lastRun: { ...run, text: "x".repeat(3_000) },
      earlierRuns,
    });
    await store.write({ key: task.key, caller: task.caller, version: undefined, task });
  }
  await using scene = await startScene({ settings: { schedulesFile: file } });
  const read = (args: object) => scene.call("list_scheduled_tasks", args, { sessionId: "another" });

  const [all, one] = [await read({}), await read({ name: " News " })];
  expect([JSON.stringify(all).length, all.trust]).toEqual([expect.closeTo(2_000, -3), undefined]);
  expect(one.structured?.["tasks"]).toMatchObject([
    { last_run: { text: "x".repeat(3_000) }, earlier_runs: [{ text: "strange" }] },
  ]);
  expect(one.content).toMatch(
    /## news at Wed 2026-11-25 09:00:00 \+00:00: answered\n\nx{3000}\n\n## news at .*: answered\n\nstrange\n/,
  );
  expect(one.trust).toEqual({ level: "untrusted", origin: "scheduled tasks" });
});

test("a file that cannot be read is put aside, and the scheduler says so", async () => {
  using folder = temporaryFolder();
  const file = folder.write("schedules.json", "{");
  await using bus = createMemoryBus();
  const config = loadConfig(configSchema, { env: {}, overrides: { schedulesFile: file }, check });
  await using scheduler = await startScheduler(bus, config, { service: "scheduler" });
  expect(scheduler.notes).toEqual([expect.stringContaining(`${file} could not be read`)]);
});

test("a time zone that nobody knows is a fault of the settings", () => {
  expect(() => loadConfig(configSchema, { env: { TIMEZONE: "Mars/Base" }, check })).toThrow(
    'timezone: expected a name of the time zone database, such as Europe/Berlin, got "Mars/Base"',
  );
});

test("a task whose runs the policy would refuse is refused", async () => {
  await using bus = createMemoryBus();
  using folder = temporaryFolder();
  const config = loadConfig(configSchema, {
    env: {},
    overrides: { schedulesFile: join(folder.path, "s.json") },
    check,
  });
  const callers = {
    asker: { allow: ["schedule_task"] },
    chatter: { allow: ["schedule_task", "agent__chat"] },
    stranger: { allow: ["*"] },
  };
  const { document } = await readPolicy(
    JSON.stringify({ callers, delegates: ["gateway", { user: "scheduler", for: ["asker", "chatter"] }] }),
    "of the test",
  );
  const policy = holdPolicy(createPolicy({ ...defaultPolicySource(), document }));
  await using _scheduler = await startScheduler(bus, config, { service: "scheduler", policy });
  await using caller = await createToolCaller(bus, { agent: "gateway" });
  const schedule = (onBehalfOf: string) => caller.call("schedule_task", news, { sessionId: "s", onBehalfOf });

  expect((await schedule("chatter")).isError).toBe(false);
  await expect(schedule("asker")).rejects.toMatchObject({
    code: "denied",
    message: expect.stringContaining('does not let "asker" use agent__chat'),
    details: { reason: "policy" },
  });
  await expect(schedule("stranger")).rejects.toThrow('does not let "scheduler" call on behalf of "stranger"');
});
