import { ToolError, ToolErrorCode } from "@rockbot/contracts";

/** LinkedIn answered, and its page is not the one that `selectors.ts` describes. */
export const pageChanged = (what: string, missing: readonly string[]): ToolError =>
  new ToolError(
    ToolErrorCode.ExecutionFailed,
    `Cannot read ${what}: LinkedIn's page has changed, so that ${missing.join(" and ")} cannot be found in it. The operator needs a newer version of RockBot.`,
    { details: { reason: "page_changed" } },
  );
