export interface AbusedOptions {
  /** Where each service's user connects. */
  readonly urls: { readonly echoes: string; readonly scripts: string; readonly "mcp-bridge": string };
  readonly redisUrl: string;
}
