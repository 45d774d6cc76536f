/** How a source of strangers' tools stands: an MCP server, an OpenAPI document, or an A2A agent. */
export interface SourceState {
  readonly kind: "mcp" | "openapi" | "a2a";
  /** The name under which its tools are pinned. */
  readonly server: string;
  /** `ready`, or another word of what it is about. */
  readonly state: string;
  /** Why it is not ready, in words that may be a stranger's. */
  readonly reason?: string | undefined;
  /** How many tools it offers, or parts of a card. */
  readonly tools: number;
  /** How many of them wait for an operator. */
  readonly held: number;
}
