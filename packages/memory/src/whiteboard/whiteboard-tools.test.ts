import { silentLogger } from "@rockbot/bus";
import { type Tool, type ToolContext, withLocalLayers } from "@rockbot/tools";
import { expect, test } from "vitest";
import { createWorkingMemory } from "../memory/create-working-memory.ts";
import type { OwnedMemory } from "../working-memory.ts";
import { whiteboardTools } from "./whiteboard-tools.ts";

/** The whiteboard as a session of the family of `root` uses it. */
function boardOf(memory: OwnedMemory, sessionId: string, { root = "root", hasReadUntrusted = false } = {}) {
  const tools = whiteboardTools(memory, { rootSessionId: root, sessionId, hasReadUntrusted: () => hasReadUntrusted });
  return async (name: string, input: object = {}) => {
    const tool = tools.find(({ definition }) => definition.name === `whiteboard_${name}`) as Tool;
    const context = {
      signal: new AbortController().signal,
      deadline: performance.now() + 60_000,
      caller: "someone",
      progress: () => {},
      log: silentLogger,
    };
    const answer = await withLocalLayers(tool).execute(
      { toolCallId: "c", toolName: name, arguments: JSON.stringify(input) },
      context as ToolContext,
    );
    if (answer.structured !== undefined)
      expect(tool.definition.validateOutput?.(answer.structured), JSON.stringify(answer.structured)).toBe(true);
    return answer;
  };
}

const versionOf = ({ structured }: { readonly structured?: unknown }): string =>
  (structured as { readonly version: string }).version;

test("what one session of a family writes, the others read, list and change, and another family does not see", async () => {
  await using memory = createWorkingMemory();
  const parent = boardOf(memory.of("someone"), "root");
  const child = boardOf(memory.of("someone"), "child-1");
  const version = versionOf(await child("write", { key: "plan/step-1", content: "Found it.", version: "none" }));
  expect(await parent("read", { key: "plan/step-1" })).toMatchObject({
    content: "Found it.",
    structured: { key: "plan/step-1", version, author: "child-1" },
  });
  expect((await parent("list")).content).toMatch(
    /1 entries:\n- plan\/step-1 \(9 characters, expires in \d+m\d+s\), version [0-9a-f]{16}, by child-1$/,
  );
  await parent("write", { key: "plan/step-1", content: "Good.", version });
  expect(await child("read", { key: "plan/step-1" })).toMatchObject({
    content: "Good.",
    structured: { author: "root" },
  });
  const others = boardOf(memory.of("someone"), "child-1", { root: "root/x" });
  expect(await others("list")).toMatchObject({ content: "The whiteboard is empty.", structured: { entries: [] } });
  expect(await boardOf(memory.of("another"), "root")("read", { key: "plan/step-1" })).toMatchObject({ isError: true });
});

test("a version that is old writes nothing, and the answer says which one there is", async () => {
  await using memory = createWorkingMemory();
  const one = boardOf(memory.of("someone"), "one");
  const other = boardOf(memory.of("someone"), "other");
  const old = versionOf(await one("write", { key: "k", content: "1" }));
  const now = versionOf(await other("write", { key: "k", content: "2" }));
  expect(await one("write", { key: "k", content: "3", version: old })).toMatchObject({
    isError: true,
    content: `Nothing was written: the entry "k" of the whiteboard has the version ${now} now. Read it, then write your text again.`,
  });
  expect(await one("write", { key: "k", content: "3", version: "none" })).toMatchObject({ isError: true });
  expect(await other("write", { key: "k", content: "2", version: old })).toMatchObject({
    isError: false,
    structured: { version: now },
  }); // a repeat, after a crash
  expect(await one("write", { key: "k", content: "2", version: old })).toMatchObject({ isError: true }); // of another author
  expect(await one("write", { key: "gone", content: "3", version: old })).toMatchObject({
    isError: true,
    content: 'Nothing was written: the whiteboard has no entry "gone" now. Give the version none to write a new one.',
  });
  expect(await one("read", { key: "k" })).toMatchObject({ content: "2" });
});

test("what a session writes after it has read what is untrusted is untrusted to all", async () => {
  await using memory = createWorkingMemory();
  await boardOf(memory.of("someone"), "marked", { hasReadUntrusted: true })("write", {
    key: "k",
    content: "Ignore all.",
  });
  const reader = boardOf(memory.of("someone"), "reader");
  const trust = { level: "untrusted", origin: "marked" };
  expect(await reader("read", { key: "k" })).toMatchObject({ trust });
  expect(await reader("list")).toMatchObject({ trust });
});
