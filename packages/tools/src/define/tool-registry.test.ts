import { expect, test } from "vitest";
import type { ToolExecutor } from "./tool-executor.ts";
import { createToolRegistry, DuplicateToolError, type ToolChange } from "./tool-registry.ts";

const executor: ToolExecutor = { execute: async ({ toolCallId, toolName }) => ({ toolCallId, toolName }) };
const registration = (name: string) => ({
  name,
  description: "",
  parametersSchema: "{}",
  readOnly: true,
  idempotent: true,
  source: "tests",
});

test("a registry lists tools by name, finds executors, and forgets what is unregistered", () => {
  const registry = createToolRegistry();
  registry.register(registration("b"), executor);
  registry.register(registration("a"), executor);
  expect(registry.getTools().map(({ name }) => name)).toEqual(["a", "b"]);
  expect(registry.getTools()).toBe(registry.getTools());
  expect(registry.getExecutor("a")).toBe(executor);
  expect(registry.getExecutor("c")).toBeUndefined();
  expect([registry.unregister("a"), registry.unregister("a")]).toEqual([true, false]);
  registry.register(registration("a"), executor);
  expect(registry.getTools()).toHaveLength(2);
});

test("a registry refuses a second tool of one name", () => {
  const registry = createToolRegistry();
  registry.register(registration("a"), executor);
  expect(() => registry.register(registration("a"), executor)).toThrow(DuplicateToolError);
});

test("a registry tells its listeners of each change until they leave", () => {
  const registry = createToolRegistry();
  const changes: ToolChange[] = [];
  const leave = registry.onChange((change) => changes.push(change));
  registry.register(registration("a"), executor);
  registry.unregister("a");
  leave();
  registry.register(registration("a"), executor);
  expect(changes).toEqual([
    { kind: "registered", name: "a" },
    { kind: "unregistered", name: "a" },
  ]);
});
