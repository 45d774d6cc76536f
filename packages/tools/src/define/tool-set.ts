import type { ToolGuide } from "@rockbot/contracts";
import type { Tool } from "./define-tool.ts";

/** The tools a service serves, and the guides that teach the model to use them. */
export interface ToolSet {
  readonly tools: readonly Tool[];
  /**
   * Each summary at most 256 characters, each document at most 16 KiB.
   * @default none: a model has the tools' descriptions
   */
  readonly guides?: readonly ToolGuide[] | undefined;
}
