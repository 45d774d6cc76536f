import { isRecord } from "@rockbot/base";
import type { AuditLine } from "@rockbot/console/api";
import { MAX_FOUND } from "@rockbot/records/audit";
import { isPlaces } from "@rockbot/tools/commands";
import { type OperatorBindings, type OperatorHttpApp, OperatorSight } from "../operators/operator.ts";
import { noSuchOperatorPath } from "../operators/operator-routes.ts";
import { readQuery } from "../operators/read-query.ts";
import type { AuditLogs, LogsSearch } from "./audit-logs.ts";
import type { Places } from "./merge-lines.ts";

/** Where an operator searches the audit logs of all services. */
export const AUDIT_PATH = "/operator/audit";
const STATE_PATH = `${AUDIT_PATH}/state`;
const QUERY = { texts: ["caller", "tool", "operator"], others: [], limit: 100, maxLimit: MAX_FOUND };
const MAX_CURSOR = 16 * 1024;

/** `GET /operator/audit` searches lines, and `GET /operator/audit/state` says how the logs stand. */
export const createAuditApp = (logs: AuditLogs): OperatorHttpApp => ({
  async fetch({ url, method }, env) {
    const { pathname, searchParams } = new URL(url);
    const { name } = env.operator;
    if (method === "GET" && pathname === STATE_PATH) return Response.json(await logs.state(name));
    if (method !== "GET" || pathname !== AUDIT_PATH) return noSuchOperatorPath();
    const { filter, limit, faults } = readQuery(searchParams, QUERY);
    const from = readCursor(searchParams.get("cursor"));
    if (from === undefined) faults.push("cursor is that of the page before");
    if (from === undefined || faults.length > 0)
      return Response.json({ message: `Cannot search the audit logs: ${faults.join("; ")}` }, { status: 400 });
    const search: LogsSearch = { ...filter, limit, from };
    const { lines, places, more, problems } = await logs.search(search, name);
    const shown = await withSight(lines, env);
    return Response.json({ ...shown, more, ...(more ? { cursor: cursorOf(places) } : {}), problems });
  },
});

/**
 * Hashes of arguments are for those who may see arguments: who calls a tool with guesses could compare the hashes. Others
 * get the lines without.
 */
async function withSight(lines: readonly AuditLine[], { operator, see }: OperatorBindings) {
  const isThere = lines.some(({ fields }) => "arguments" in fields);
  const hasHashes = operator.sees.has(OperatorSight.Arguments) && (!isThere || (await see("arguments", "audit logs")));
  if (hasHashes) return { lines, hasHashes };
  return { lines: lines.map(({ fields: { arguments: _, ...fields }, ...line }) => ({ ...line, fields })), hasHashes };
}

const cursorOf = (places: Places): string => Buffer.from(JSON.stringify(places)).toString("base64url");

/** @returns undefined if it is no cursor of this gateway's kind */
function readCursor(cursor: string | null): Places | undefined {
  if (cursor === null) return {};
  try {
    const places: unknown = cursor.length > MAX_CURSOR ? undefined : JSON.parse(`${Buffer.from(cursor, "base64url")}`);
    const isOne = isRecord(places) && Object.values(places).every((place) => place !== undefined && isPlaces(place));
    return isOne ? (places as Places) : undefined;
  } catch {
    return undefined;
  }
}
