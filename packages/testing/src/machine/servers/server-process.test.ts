import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createServerProcess } from "./server-process.ts";

const isRoot = process.getuid?.() === 0;

// Skipped where nobody but root may raise a priority.
test.skipIf(!isRoot)("a server that comes first does so with the processes that it starts", async () => {
  const program = ["-c", "sleep 0.2; sleep 60 & echo $! >&2; wait"];
  let said = "";
  const server = createServerProcess({
    program: "/bin/sh",
    args: program,
    env: {},
    comesFirst: true,
    untilReady: async (explain) => {
      await expect.poll(async () => (said = await explain())).toMatch(/\d\n$/);
    },
  });
  try {
    await server.start();
    const child = /(\d+)\n$/.exec(said)?.[1];
    expect(niceOf(Number(child))).toBe(-5);
    const group = `/proc/${child}/autogroup`;
    if (existsSync(group)) expect(readFileSync(group, "utf8")).toMatch(/nice -5/);
  } finally {
    await server.kill();
  }
});

const niceOf = (pid: number): number =>
  Number(
    readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ")[16],
  );
