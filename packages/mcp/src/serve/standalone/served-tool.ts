/** A tool that an MCP server of ours offers by itself, without a bus. */
export interface ServedTool {
  readonly name: string;
  /** The description for the model. */
  readonly description: string;
  /** The schema of an object. Draft 2020-12, without references. */
  readonly inputSchema: { readonly type: "object"; readonly [keyword: string]: unknown };
  /** True if a call changes nothing. */
  readonly isReadOnly: boolean;
  /**
   * Runs with arguments that fit the schema, and gives the result's text. `signal` aborts when the client cancels or is
   * gone.
   * @throws {ToolError} whose message the model may read; any other error becomes a failure without particulars
   */
  run(args: Readonly<Record<string, unknown>>, options: { readonly signal: AbortSignal }): Promise<string>;
}

/** The identity of a server, and its tools. */
export interface ServedTools {
  readonly name: string;
  readonly version: string;
  /** Words for models about the server as a whole. */
  readonly instructions?: string | undefined;
  readonly tools: readonly ServedTool[];
}
