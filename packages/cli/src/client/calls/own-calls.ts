import type { ToolErrorMessage, ToolInvokeResponse } from "@rockbot/contracts";
import type { RunStanding } from "@rockbot/gateway";
import type { ProgressUpdate } from "@rockbot/tools";

/** A call of the user, as `GET /v1/calls/{id}` describes it. */
export interface OwnCall {
  readonly toolCallId: string;
  readonly toolName: string;
  /** A CallState, or that of a run. */
  readonly state: string;
  readonly code?: string | undefined;
  readonly waitsFor?: RunStanding["waitsFor"];
  /** The last updates of a run, the oldest first. */
  readonly progress?: readonly ProgressUpdate[] | undefined;
  /** How it ended: one of both, if its end is kept. */
  readonly result?: ToolInvokeResponse | undefined;
  readonly error?: ToolErrorMessage | undefined;
}

/** The calls that the user has made, where `rockbot call` makes them. */
export interface OwnCalls extends AsyncDisposable {
  /** The place in words, for the user. */
  readonly where: string;
  find(toolCallId: string): Promise<OwnCall | undefined>;
  /** Asks for the end of one that has not ended. @throws {CommandError} if it is not there, or has ended */
  cancel(toolCallId: string): Promise<void>;
}
