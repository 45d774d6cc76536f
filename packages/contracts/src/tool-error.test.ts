import { expect, test } from "vitest";
import { decodeMessage, encodeMessage } from "./messages/decode.ts";
import { errorReply, toolErrorFrom } from "./messages/tool-messages.ts";
import { ToolError, ToolErrorCode } from "./tool-error.ts";

test("a tool error is the same on both sides of the bus, but for its cause", () => {
  const error = new ToolError(ToolErrorCode.RateLimited, "Come back later", {
    retryAfterMs: 12.3,
    details: { reason: "quota" },
    cause: new Error("secret"),
  });
  const bytes = encodeMessage("ToolError", errorReply({ toolCallId: "a", toolName: "b" }, error));
  expect(Buffer.from(bytes).toString()).not.toContain("secret");
  const decoded = decodeMessage("ToolError", bytes);
  expect(decoded.ok && toolErrorFrom(decoded.value)).toMatchObject({
    code: "rate_limited",
    message: "Come back later",
    isRetryable: true,
    retryAfterMs: 13,
    details: { reason: "quota" },
  });
});

test("whether to retry follows from the code, unless said otherwise", () => {
  const codes = Object.values(ToolErrorCode).filter((code) => new ToolError(code, "").isRetryable);
  expect(codes).toEqual(["timeout", "unavailable", "rate_limited", "overloaded"]);
  expect(new ToolError("execution_failed", "", { isRetryable: true }).isRetryable).toBe(true);
  expect(new ToolError("a_code_of_tomorrow", "").isRetryable).toBe(false);
});
