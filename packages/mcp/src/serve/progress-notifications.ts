import type { ProgressToken, ServerContext } from "@modelcontextprotocol/server";
import type { ProgressUpdate } from "./tool-source.ts";

type Notify = ServerContext["mcpReq"]["notify"];

/**
 * Passes progress on to a client. MCP wants a number that grows with each notification, and our updates need none.
 * Where a tool counts nothing, updates are counted. A number that does not grow is raised by the least there is if the
 * update has a message; else the update says nothing new.
 */
export function progressNotifications(progressToken: ProgressToken, notify: Notify): (update: ProgressUpdate) => void {
  let last: number | undefined;
  let isCounted = false;
  return ({ progress, total, message }) => {
    const isNumber = progress !== undefined && Number.isFinite(progress);
    isCounted ||= isNumber;
    const grows = isNumber && (last === undefined || progress > last);
    if (!grows && isCounted && message === undefined) return;
    last = grows ? progress : isCounted ? above(last ?? 0) : (last ?? 0) + 1;
    const params = {
      progressToken,
      progress: last,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    };
    notify({ method: "notifications/progress", params }).catch(() => {}); // a client that is gone needs none
  };
}

/** A number that is greater by next to nothing. */
const above = (value: number): number => value + Math.max(Math.abs(value), 1) * 2 ** -40;
