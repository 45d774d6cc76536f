/**
 * The keys that RockBot adds to the `_meta` of MCP's requests and results. A client that knows none of them loses
 * nothing but their values.
 */
export const Meta = {
  /**
   * In a call: 1 to 256 visible ASCII characters of the client's choice. The same key of the same caller is the same
   * call.
   */
  IdempotencyKey: "rockbot/idempotencyKey",
  /**
   * In a call with a key that the client has sent before, and has no answer to: how long ago that was first, in
   * milliseconds.
   */
  AgeMs: "rockbot/ageMs",
  /** In a call: how long it may take, in milliseconds. */
  TimeoutMs: "rockbot/timeoutMs",
  /**
   * In a call with a key: `keep` lets it go on when its client goes away, which can call again with the key. Else that
   * cancels it.
   */
  OnClose: "rockbot/onClose",
  /** In a call: true if it goes on without its client, which gets a task, or the call's id, at once. */
  Detached: "rockbot/detached",
  /** In a call: the working-memory namespace it belongs to. */
  SessionId: "rockbot/sessionId",
  /**
   * In a call: true if untrusted content led to it. The policy may then deny tools with effects; it allows nothing
   * more.
   */
  Untrusted: "rockbot/untrusted",
  /** In a result: the id under which the system knows the call. */
  ToolCallId: "rockbot/toolCallId",
  /** In a result, a listed tool and a guide: how far its content can be trusted, and where it is from. */
  Trust: "rockbot/trust",
  /**
   * In a result: what an MCP server says of its blocks of text, as a list of `block`, its number, `annotations` and
   * `_meta`.
   */
  Annotations: "rockbot/annotations",
  /**
   * In a result: blocks of kinds that the protocol does not know, at the numbers that the text says; null in the places
   * of others.
   */
  Content: "rockbot/content",
  /** In a result that is an error: the ToolError of the bus. */
  Error: "rockbot/error",
} as const;
