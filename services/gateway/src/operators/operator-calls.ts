import type { ToolCaller } from "@rockbot/tools";
import type { HttpApp } from "../http/http-server.ts";
import { noSuchOperatorPath } from "./operator-routes.ts";

/** Where an operator reads calls, on a socket or by an operator's token only. */
export const CALLS_PATH = "/operator/calls";
/** The largest number of calls in one answer. */
export const MAX_LISTED_CALLS = 1_000;
const LISTED_CALLS = 100;

/**
 * The routes behind `rockbot calls`, for the calls of all callers in this process, and of the other instances of their
 * agents that share a Redis. They are `GET /operator/calls?limit=N`, where N is 100 unless given, and `GET
 * /operator/calls/{toolCallId}`.
 */
export function createCallsApp(journals: readonly ToolCaller["journal"][]): HttpApp {
  return {
    async fetch({ url, method }) {
      const { pathname, searchParams } = new URL(url);
      const toolCallId = decoded(/^\/operator\/calls\/([^/]+)$/.exec(pathname)?.[1]);
      if (method !== "GET" || (toolCallId === undefined && pathname !== CALLS_PATH)) return noSuchOperatorPath();
      if (toolCallId !== undefined) {
        const found = await Promise.all(journals.map((journal) => journal.find(toolCallId)));
        return Response.json({ call: found.find((call) => call !== undefined) ?? null });
      }
      const limit = Number(searchParams.get("limit") ?? LISTED_CALLS);
      if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LISTED_CALLS)
        return Response.json(
          { message: `Cannot list calls: limit is a whole number from 1 to ${MAX_LISTED_CALLS}` },
          { status: 400 },
        );
      const calls = (await Promise.all(journals.map((journal) => journal.recent(limit)))).flat();
      return Response.json({
        calls: calls.sort((a, b) => (b.steps[0]?.at ?? 0) - (a.steps[0]?.at ?? 0)).slice(0, limit),
      });
    },
  };
}

/** Undefined too if it is no text that was encoded for an address. */
function decoded(text: string | undefined): string | undefined {
  try {
    return text === undefined ? undefined : decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
