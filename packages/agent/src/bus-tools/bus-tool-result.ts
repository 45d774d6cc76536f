/** A result for a model. */
export interface BusToolResult {
  readonly content: string;
  readonly isError: boolean;
}
