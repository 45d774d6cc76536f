/** The session that the tools are for, and how much its model reads at once. */
export interface MemoryToolsOptions {
  /** The session's namespace, from `sessionNamespace`. The tools reach nothing else. */
  readonly namespace: string;
  /** The most characters of one result: the threshold at which results of the model are chunked. At least 1000. */
  readonly pageChars: number;
  /**
   * True if the session has read untrusted content by now: texts that it saves then are untrusted, too. @default never
   */
  readonly hasReadUntrusted?: (() => boolean) | undefined;
}
