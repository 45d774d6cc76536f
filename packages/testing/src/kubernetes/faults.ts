import type { ApiRequest } from "./requests/request-of.ts";
import { ApiFailure } from "./store/api-failure.ts";

/** Which requests a fault befalls. */
interface FaultTarget {
  /** Such as `delete`; any if left out. */
  readonly verb?: string;
  /** Such as `pods` or `pods/log`; any if left out. */
  readonly resource?: string;
  /** How many of them, first come first served. @default 1 */
  readonly times?: number;
}

/** What goes wrong with requests. The last four are of watches. */
export type ApiFault = FaultTarget &
  (
    | {
        readonly kind: "status";
        readonly code: number;
        readonly reason?: string;
        readonly message?: string;
        readonly retryAfterSeconds?: number;
      }
    /** Never answered. */
    | { readonly kind: "hang" }
    /** The connection ends, and nothing has been done. */
    | { readonly kind: "drop" }
    /** All is done, and the connection ends before the answer. */
    | { readonly kind: "commitThenDrop" }
    /** Nothing is sent but the head of the answer. */
    | { readonly kind: "silent" }
    /** Ends after so many events. */
    | { readonly kind: "closed"; readonly afterEvents: number }
    /** Ends in the middle of the event after so many. */
    | { readonly kind: "halfLine"; readonly afterEvents: number }
    /** Ends after so many events with the error that its version is too old. */
    | { readonly kind: "expired"; readonly afterEvents: number }
  );

/** Takes the first fault that befalls a request off the list, once it has happened as often as it is to. */
export function takeFault(faults: ApiFault[], { verb, resource }: ApiRequest): ApiFault | undefined {
  const index = faults.findIndex((fault) => (fault.verb ?? verb) === verb && (fault.resource ?? resource) === resource);
  const fault = faults[index];
  if (fault === undefined) return undefined;
  const { times = 1 } = fault;
  if (times > 1) faults[index] = { ...fault, times: times - 1 };
  else faults.splice(index, 1);
  return fault;
}

const REASONS: Readonly<Record<number, string>> = {
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Expired",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

export const failureOf = ({
  code,
  reason,
  message,
  retryAfterSeconds,
}: Extract<ApiFault, { kind: "status" }>): ApiFailure =>
  new ApiFailure(code, reason ?? REASONS[code] ?? "Unknown", message ?? "something is wrong on purpose", {
    retryAfterSeconds,
  });
