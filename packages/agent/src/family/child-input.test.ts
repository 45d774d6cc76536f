import { describeFaults, faultsText } from "@rockbot/contracts";
import { expect, test } from "vitest";
import { childInputSchema, validateChildInput } from "./child-input.ts";

test.each([
  [{}, "prompt: is required and missing"],
  [{ prompt: 5 }, "prompt: expected string, got the number 5"],
  [{ prompt: "" }, "prompt: expected text that is not empty"],
  [{ prompt: "x".repeat(262_145) }, "prompt: expected text of at most 262144 characters"],
  [{ prompt: "x", task: "y" }, 'unknown property "task": known: prompt'],
])("the call of an agent with wrong arguments is refused in words: %#", (input, words) => {
  expect(validateChildInput(input)).toBe(false);
  expect(faultsText(describeFaults(validateChildInput, childInputSchema, input))).toContain(words);
});
