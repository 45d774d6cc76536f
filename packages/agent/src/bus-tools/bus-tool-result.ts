import type { ToolOutput } from "@rockbot/contracts";

/** A result for a model. */
export interface BusToolResult {
  readonly content: string;
  readonly isError: boolean;
  /** Of a result that was too large for the model: how large it was, and where it is. */
  readonly toolOutput?: ToolOutput | undefined;
}
