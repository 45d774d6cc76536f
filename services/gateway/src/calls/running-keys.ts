import { ToolError } from "@rockbot/contracts";
import { HttpErrorCode } from "../http/http-error.ts";

/** The calls that run under a key of their client's choice, by whichever door they came. */
export class RunningKeys {
  readonly #ids = new Set<string>();

  /** Holds the key's call until disposed. @throws {ToolError} `conflict` if it runs already */
  hold(toolCallId: string, toolName: string): Disposable {
    if (this.#ids.has(toolCallId)) {
      throw new ToolError(
        HttpErrorCode.Conflict,
        `Cannot call "${toolName}" a second time: a call with this Idempotency-Key still runs. Wait for it to end`,
        {
          isRetryable: true,
          retryAfterMs: 1000,
        },
      );
    }
    this.#ids.add(toolCallId);
    return { [Symbol.dispose]: () => void this.#ids.delete(toolCallId) };
  }
}
