import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createMemoryBus } from "@rockbot/bus";
import { openPolicy } from "@rockbot/policy";
import { temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { createToolCaller } from "../call/tool-caller.ts";
import { testSet, testTool } from "../test-tools.ts";
import { serveTools } from "./serve-tools.ts";

const CALLS = 600;
const CALLS_PER_SECOND = 200;

test("a policy that changes under load fails no call, and each call says which revision decided it", {
  timeout: 60_000,
}, async () => {
  using folder = temporaryFolder();
  const file = join(folder.path, "policy.yaml");
  const write = async (text: string) => {
    await writeFile(`${file}.next`, text);
    await rename(`${file}.next`, file);
  };
  /** Two policies that decide differently, and one that cannot be used. */
  const texts = ["callers: { one: { allow: [tool] } }", "callers: { two: { allow: [tool] } }"];
  await write(texts[0] as string);
  await using policy = await openPolicy(file, { everyMs: 5 });
  const denied = new Map([[policy.current().revision, "two"]]);
  await using bus = createMemoryBus();
  await using _service = await serveTools(bus, testSet(testTool("tool", async () => "ok")), {
    service: "tools",
    policy,
  });
  await using one = await createToolCaller(bus, { agent: "one" });
  await using two = await createToolCaller(bus, { agent: "two" });
  for (const caller of [one, two])
    await expect.poll(() => caller.tools.getExecutor("tool"), { timeout: 10_000 }).toBeDefined();

  const changing = new AbortController();
  const changes = (async () => {
    for (let round = 1; !changing.signal.aborted; round++) {
      const changed = new Promise<void>((resolve) => {
        const stop = policy.onChange(({ revision }) => {
          denied.set(revision, round % 2 === 1 ? "one" : "two");
          stop();
          resolve();
        });
      });
      await write("everyone: { allow: nobody }");
      await write(texts[round % 2] as string);
      await changed;
    }
  })();
  const ends = await Promise.all(
    Array.from({ length: CALLS }, async (_, i) => {
      await sleep((1_000 * i) / CALLS_PER_SECOND);
      const caller = i % 2 === 0 ? one : two;
      const toolCallId = `call-${i}`;
      const end = await caller.call("tool", {}, { toolCallId }).then(
        () => "ok",
        ({ code }: { code: string }) => code,
      );
      const { policy: revision, caller: agent } = (await caller.journal.find(toolCallId)) ?? {};
      return { end, agent, revision: revision ?? "none" };
    }),
  );
  changing.abort();
  await changes;

  for (const { end, agent, revision } of ends) expect(end).toBe(denied.get(revision) === agent ? "denied" : "ok");
  expect(new Set(ends.map(({ revision }) => revision))).toEqual(new Set(denied.keys()));
  expect(denied.size).toBe(2);
});
