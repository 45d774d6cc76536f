import type { DlqEvent, DlqRequest } from "@rockbot/gateway/dlq";

/** Where parked messages are looked at: a broker, or a running `rockbot up`. */
export interface DlqClient extends AsyncDisposable {
  /** The place in words, for the user. */
  readonly where: string;
  /** Hands each event to `emit`, and waits for it. @throws {CommandError} if the messages cannot be reached any more */
  run(request: DlqRequest, emit: (event: DlqEvent) => void | Promise<void>, signal: AbortSignal): Promise<void>;
}
