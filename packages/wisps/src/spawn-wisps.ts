import { trustIn } from "@rockbot/agent/plugin";
import { type ToolSpawnWispsInput, tools, type Validator } from "@rockbot/contracts";
import { defineTool, type Tool } from "@rockbot/tools";
import { availableTo, readDefinitions } from "./read/read-definitions.ts";
import { runWisps, type WispParts } from "./run/run-wisps.ts";
import type { WispContext } from "./run/step-run.ts";
import { reportText } from "./run/wisp-report.ts";

/** Models give a single pipeline, and texts of JSON, too: what is wrong with them is said with all other faults. */
const anyArguments: Validator<ToolSpawnWispsInput> = (value): value is ToolSpawnWispsInput => typeof value === "object";

/** `spawn_wisps`: checks pipelines, runs them by calls of the turn, and tells what came of each. */
export function spawnWispsTool(parts: WispParts): Tool {
  return defineTool({ ...tools.spawnWisps, validateInput: anyArguments }, async (input, context) => {
    const wisps = readDefinitions(input as unknown as Readonly<Record<string, unknown>>, availableTo(parts.calls));
    const done = await runWisps(wisps, context as WispContext, parts);
    return {
      content: reportText(done.batchId, done.runs, done),
      structured: done.structured,
      isError: done.runs.every(({ end }) => !end.ok),
      trust: trustIn(done),
    };
  });
}
