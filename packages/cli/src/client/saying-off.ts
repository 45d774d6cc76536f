import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { findGlob } from "@rockbot/policy";
import type { ToolClient } from "./tool-client.ts";

/** The client, which says of a tool that is off what is missing for it. */
export function sayingOff(client: ToolClient): ToolClient {
  return {
    ...client,
    async call(name, args, options) {
      try {
        return await client.call(name, args, options);
      } catch (error) {
        if (
          !(error instanceof ToolError) ||
          error.code !== ToolErrorCode.Unavailable ||
          error.details?.["mayHaveRun"] === true
        )
          throw error;
        const off = (await client.listOff().catch(() => [])).find(
          ({ tool }) => !tool.startsWith("*") && findGlob([tool], name) !== undefined,
        );
        if (off === undefined) throw error;
        throw new ToolError(ToolErrorCode.Unavailable, `Cannot call "${name}": it is off. ${off.reason}`, {
          isRetryable: false,
          cause: error,
        });
      }
    },
  };
}
