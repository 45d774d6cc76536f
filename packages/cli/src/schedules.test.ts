import { join } from "node:path";
import { ownVirtualHost, temporaryFolder } from "@rockbot/testing";
import { describe, expect, test } from "vitest";
import { runHere, startUp } from "./test-cli.ts";

/** Longer than any column of a table. */
const LONG = `s2-${"0123456789".repeat(10)}`;
const AT = Date.UTC(2026, 10, 25, 9);
const runOf = (hours: number, text: string) => ({
  fireAt: AT + hours * 3_600_000,
  endedAt: AT,
  outcome: "answered",
  text,
  isUntrusted: false,
});
const taskOf = (name: string, caller: string, sessionId: string, more: object = {}) => ({
  ...{
    key: `${name} ${caller} ${sessionId}`,
    id: "1",
    caller,
    sessionId,
    name,
    cron: "0 9 1 1 *",
    zone: "UTC",
    description: `About ${name}.`,
  },
  ...{ isOnce: false, hasReadUntrusted: false, createdAt: AT, nextAt: Date.UTC(2099, 0, 1, 9), ...more },
});
const tasks = [
  taskOf("tea", "cli", "yesterday", {
    lastRun: runOf(1, "It is hot.\n\u001b[2Jx"),
    earlierRuns: [runOf(0, "It was cold.")],
  }),
  ...["s1", LONG].map((session) => taskOf("news", "cli", session)),
  taskOf("secret", "alice", "s1"),
];

const places: Readonly<Record<string, (url: string) => readonly string[]>> = {
  "this process": () => [],
  'the running "rockbot up"': () => [],
  "services behind amqp://": (url) => ["--bus", url],
};

describe.each(Object.entries(places))("in %s", (where, argsOf) => {
  test("a caller's tasks of all conversations are listed, shown with their answers, and cancelled; another caller's are not", {
    timeout: 120_000,
  }, async () => {
    using folder = temporaryFolder();
    const file = folder.write("schedules.json", JSON.stringify({ format: 1, tasks, usages: [] }));
    const options = {
      folder: folder.path,
      env: { SCHEDULES_FILE: file, DATA_DIRECTORY: join(folder.path, "data"), TIMEZONE: "UTC" },
    };
    await using host = await ownVirtualHost();
    const place = argsOf(host.url);
    await using _up =
      where === "this process" ? undefined : await startUp(options, ["--only", "scheduler,gateway", ...place]);
    const run = (...args: string[]) => runHere(["schedules", ...args, ...place], options);

    const listed = await run("ls");
    expect(listed.stdout).toMatch(
      /^news .* s1 .*\nnews .* s2-(?:0123456789){10} .*\ntea +2099-\S+ +answered 2026-11-25T10:00:00\+00:00 +yesterday +0 9 1 1 \*\n$/,
    );
    expect(listed.stderr).toContain(`3 scheduled tasks in ${where}`);
    const shown = (await run("show", "TEA")).stdout;
    expect(shown).toMatch(
      /^tea, of the conversation yesterday\n[\s\S]*10:00:00\+00:00 {2}answered\nIt is hot\.\n\S*x\n\n2026-11-25T09:00:00\+00:00 {2}answered\nIt was cold\.\n/,
    );
    expect(shown).not.toContain("\u001b");
    expect(JSON.parse((await run("show", "news", "--session", LONG, "--json")).stdout)).toMatchObject([
      { name: "news", conversation: LONG },
    ]);
    expect(await run("show", "secret")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('There is no scheduled task "secret" in '),
    });

    if (where === 'the running "rockbot up"')
      expect(await run("ls", "--for", "alice")).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/takes calls of its user alone.*--bus/),
      });
    expect(await run("cancel", "news")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('several conversations have a scheduled task "news". Name the conversation'),
    });
    expect(await run("cancel", "news", "--session", LONG)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('Cancelled the scheduled task "news"'),
    });
    expect(await run("cancel", "tea")).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("of the conversation yesterday"),
    });
    expect(await run("cancel", "secret")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/no scheduled task "secret" in .*: "rockbot schedules ls" lists those/),
    });
    expect((await run("ls")).stderr).toContain("1 scheduled task in ");
    expect((JSON.parse((await run("ls", "--json")).stdout) as object[]).length).toBe(1);
  });
});
