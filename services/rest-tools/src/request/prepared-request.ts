/** A request as it goes out, but for the credentials. */
export interface PreparedRequest {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Record<string, string>;
  readonly body?: string | Uint8Array | undefined;
}
