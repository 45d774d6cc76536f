/** How an MCP server is reached. Every text is final: `${NAME}` has been replaced by then. */
export type McpServerAddress = StdioAddress | RemoteAddress;

/** An MCP server that is started as a program and speaks over its stdin and stdout. */
export interface StdioAddress {
  readonly type: "stdio";
  /** The program: a path, or a name that PATH finds. No shell reads it. */
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment of the process; nothing else is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** @default the folder of this process */
  readonly cwd?: string | undefined;
  /**
   * The user that it runs as, which needs this process to be root's. It has none of that user's further groups.
   * @default that of this process
   */
  readonly uid?: number | undefined;
  /** @default `uid`; under the user of this process, its group */
  readonly gid?: number | undefined;
  /**
   * The memory that it and all its children may have together; beyond that it is ended. Linux only.
   * @default no limit
   */
  readonly memoryMib?: number | undefined;
  /** The longest message that is read of it. @default 10 MiB */
  readonly maxMessageBytes?: number | undefined;
}

/** An MCP server that is reached over HTTP. */
export interface RemoteAddress {
  /** `http` is Streamable HTTP; `auto` tries it first and then SSE, as old servers ask for. */
  readonly type: "auto" | "http" | "sse" | "websocket";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth?: OAuthOptions | undefined;
  /**
   * For an address that a stranger has named: only public addresses are connected to, but for these exceptions, and no
   * redirect is followed.
   * @default it is connected to wherever it is
   */
  readonly guard?: { readonly allowPorts: readonly number[]; readonly allowAddresses: readonly string[] } | undefined;
}

/** The client-credentials grant: for services, without a person who consents. */
export interface OAuthOptions {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Separated by blanks. */
  readonly scope?: string | undefined;
  /** The authorization server that may see the secret. */
  readonly issuer: string;
}

/**
 * An offer of a server under one name. Texts are as the server wrote them, without anything that could deceive a
 * reader.
 */
export interface McpTool {
  readonly name: string;
  /** For people, where the server gives one. */
  readonly title?: string | undefined;
  readonly description: string;
  readonly inputSchema: object;
  /** Describes `structuredContent` of its results. */
  readonly outputSchema?: object | undefined;
  /** The server's annotations: hints, never rights. Missing ones have the protocol's defaults. */
  readonly annotations: {
    readonly readOnly: boolean;
    readonly idempotent: boolean;
    readonly destructive: boolean;
    readonly openWorld: boolean;
  };
  /** An operator, or a lock file, has approved this very definition. @default false */
  readonly isApproved?: boolean | undefined;
}
