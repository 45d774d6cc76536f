import { A2AError } from "@a2a-js/sdk/errors";
import { ToolErrorCode } from "@rockbot/contracts";

/**
 * What was asked for is not begun now, and may be later. A2A has no error of its own for that, so it is an internal
 * error: -32603 in JSON-RPC, and in HTTP+JSON the status that the gateway answers `overloaded` with.
 */
export class OverloadedError extends A2AError {
  /** By these two the SDK knows the status. */
  readonly transport = "rest";
  readonly statusCode = 503;

  /** @param reason the `details.reason` of the gateway's other errors */
  constructor(message: string, reason?: string) {
    super({ message, metadata: { code: ToolErrorCode.Overloaded, ...(reason === undefined ? {} : { reason }) } });
  }
}
