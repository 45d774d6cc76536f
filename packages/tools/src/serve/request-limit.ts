import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import type { MessageMeter } from "../messages/message-meter.ts";
import type { Intake } from "./intake.ts";

export interface RequestLimitOptions {
  readonly intake: Intake;
  readonly meter: MessageMeter;
  readonly policy: PolicyHolder;
}

/** A guess, for a caller that has as many requests here as it may have. */
const FULL_RETRY_MS = 1_000;

/** How many requests are taken of one caller, before they are read. */
export class RequestLimit {
  readonly #options: RequestLimitOptions;

  constructor(options: RequestLimitOptions) {
    this.#options = options;
  }

  /** @returns when there is room for more, if a request is too many of its caller's */
  retryAfterMs(caller: string, bytes: number): number | undefined {
    const { intake, meter, policy } = this.#options;
    return intake.hasRoom(caller, bytes, policy.current().inFlightOf(caller))
      ? meter.take("invoke", caller, bytes)
      : FULL_RETRY_MS;
  }

  /** Tells whether one more of the caller's excess requests gets an answer. One that is not is counted as dropped. */
  answersRefusal(caller: string): boolean {
    if (this.#options.meter.takeExtra("refusal", caller)) return true;
    this.#drop("invoke", caller);
    return false;
  }

  /**
   * Tells whether one more request without a possible answer is kept for an operator. One that is not is counted as
   * dropped.
   */
  keepsUnanswerable(caller: string, { isTooLarge }: { readonly isTooLarge: boolean }): boolean {
    if (!isTooLarge && this.#options.meter.takeExtra("unanswerable", caller)) return true;
    this.#drop("unanswerable", caller);
    return false;
  }

  #drop(kind: "invoke" | "unanswerable", caller: string): void {
    this.#options.meter.drop(kind, caller);
    this.#options.intake.drop(caller);
  }
}

/** The answer to a caller whose request is too many. */
export function tooMany(caller: string, retryAfterMs: number): ToolError {
  return new ToolError(
    ToolErrorCode.RateLimited,
    `The request was not read: "${caller}" sends more than its limit. Try again in ${Math.ceil(retryAfterMs / 1_000)} s.`,
    {
      retryAfterMs,
      details: { reason: "messages" },
    },
  );
}
