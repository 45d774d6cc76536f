import { expect, test } from "vitest";
import { cleanSchema, isTooDeep } from "./clean-schema.ts";

test("descriptions lose deceptive characters wherever they stand; names and values stay as they go over the wire", () => {
  const schema = {
    type: "object",
    description: "a\u200bb",
    properties: { "x\u200b": { title: "t\u202e", enum: ["v\u200b"], default: "d\u200b" } },
    $defs: { deep: { anyOf: [{ description: "\u{e0041}hidden" }] } },
  };
  expect(cleanSchema(schema)).toEqual({
    type: "object",
    description: "ab",
    properties: { "x\u200b": { title: "t", enum: ["v\u200b"], default: "d\u200b" } },
    $defs: { deep: { anyOf: [{ description: "hidden" }] } },
  });
  expect((cleanSchema({ description: "x".repeat(10_000) }) as { description: string }).description).toHaveLength(4_096);
});

test("what is nested too deeply is told, however deep", () => {
  const nested = (depth: number): object => JSON.parse(`${'{"not":'.repeat(depth)}{}${"}".repeat(depth)}`);
  expect([isTooDeep(nested(60)), isTooDeep(nested(100_000)), isTooDeep(null)]).toEqual([false, true, false]);
});
