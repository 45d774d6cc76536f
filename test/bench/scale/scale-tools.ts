import { pbkdf2Sync } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { ToolDefinition } from "@rockbot/contracts";
import { defineTool, type ToolSet } from "@rockbot/tools";
import { inputSchema, validateEcho } from "../contenders/echo-tool.ts";
import type { Payload } from "../payload.ts";

export const SCALE_SERVICE = "bench-scale";
export const WAIT_MS = 100;
/** The work of about 20 ms of a processor. */
const ITERATIONS = 150_000;

/** What a processor-bound tool does. */
export const compute = (): Buffer => pbkdf2Sync("", "", ITERATIONS, 32, "sha256");

/** What each tool does with a call before it gives the text back. All have effects, so that each call is a claim. */
export const works = {
  bench_nothing: async () => {},
  bench_wait: () => sleep(WAIT_MS),
  bench_compute: async () => void compute(),
} as const;

export const scaleTools: ToolSet = {
  tools: Object.entries(works).map(([name, work]) => {
    const description = "Gives back what it gets.";
    const definition: ToolDefinition<Payload> = {
      name,
      description,
      inputSchema,
      readOnly: false,
      idempotent: false,
      validateInput: validateEcho,
    };
    return defineTool(definition, async ({ text }) => {
      await work();
      return text ?? "";
    });
  }),
  guides: [],
};
