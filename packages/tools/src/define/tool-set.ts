import type { ToolGuide } from "@rockbot/contracts";
import type { Tool } from "./define-tool.ts";

/** The tools a service serves, and the guides that teach the model to use them. */
export interface ToolSet {
  readonly tools: readonly Tool[];
  /** At least one: each summary at most 256 characters, each document at most 16 KiB. */
  readonly guides: readonly ToolGuide[];
}
