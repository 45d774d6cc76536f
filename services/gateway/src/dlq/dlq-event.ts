import type { ToolErrorMessage, ToolInvokeResponse } from "@rockbot/contracts";
import type { ParkedRecord } from "./parked-record.ts";

/** The fate of one message that was to be played again. */
export interface Replayed {
  readonly kind: "replayed";
  readonly service: string;
  readonly id: string;
  readonly toolName?: string | undefined;
  /** The service's answer; absent if there is none, or one that is no answer to a tool call. */
  readonly answer?: ToolInvokeResponse | ToolErrorMessage | undefined;
  /** Why there is no answer, in words. */
  readonly trouble?: string | undefined;
  /** True if the message is parked no longer. */
  readonly isRemoved: boolean;
}

/** The events of a request, as they come. The last of each request is an `end` or a `refusal`. */
export type DlqEvent =
  /** How many messages a service has parked; null if there is no such service. */
  | { readonly kind: "service"; readonly service: string; readonly parked: number | null }
  | ({ readonly kind: "parked" } & ParkedRecord)
  | Replayed
  | { readonly kind: "purged"; readonly service: string; readonly id: string }
  /** `stopped` says why messages were left that should have been played again, too. */
  | { readonly kind: "end"; readonly stopped?: string | undefined }
  /** Nothing was done. It is wrong usage if asking again gives the same. */
  | { readonly kind: "refusal"; readonly message: string; readonly isUsage: boolean };
