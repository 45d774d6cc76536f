import type { ToolOutput } from "@rockbot/contracts";

/** A result for a model. */
export interface BusToolResult {
  readonly content: string;
  readonly isError: boolean;
  /** The size and the place of a result that was too large for the model. */
  readonly toolOutput?: ToolOutput | undefined;
}
