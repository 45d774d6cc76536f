import type { WispDefinition } from "@rockbot/contracts";
import type { WispStep } from "./wisp.ts";

/** A step of either form, as a model has written it. */
export type WrittenStep = WispDefinition["steps"][number];

/** Steps as they run, and what is wrong with them, in words that begin with a place. */
export interface ReadSteps {
  readonly steps: readonly WispStep[];
  readonly faults: readonly string[];
}
