import type { ShownCall } from "@rockbot/gateway";
import type { CallRecord } from "@rockbot/records/journal";

/** Where `rockbot calls` reads: the journals of a running `rockbot up`, or those in Redis. */
export interface CallSource extends AsyncDisposable {
  /** The place in words, for the user. */
  readonly where: string;
  /** The newest first, of all callers. */
  recent(limit: number): Promise<readonly ShownCall[]>;
  /** One call, and those that it led to. */
  find(toolCallId: string): Promise<FoundCall | undefined>;
}

export interface FoundCall {
  readonly call: ShownCall;
  readonly inner: readonly CallRecord[];
}
