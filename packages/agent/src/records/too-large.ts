import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { MAX_CHARS_OF_MAKER } from "./record-store.ts";

/** The refusal of a record for which those that its maker has leave no room. @param kind `robot`, `skill` or `wisp` */
export const tooLarge = (kind: string, maker: string): ToolError =>
  new ToolError(
    ToolErrorCode.Denied,
    `The ${kind} was not saved. All that "${maker}" has of the kind would have more than ${MAX_CHARS_OF_MAKER} characters. Make this one shorter, or delete one.`,
  );
