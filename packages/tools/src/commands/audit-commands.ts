import { isRecord } from "@rockbot/base";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import { AuditFileError, type AuditLog, type AuditPlace, type AuditSearch } from "@rockbot/records/audit";
import type { CommandHandler } from "./take-commands.ts";

/** The kinds of commands by which operators read the audit log of a service. */
export const AuditCommand = { Search: "audit.search", State: "audit.state" } as const;

/** Obeys them. A service without a log answers `{ isKept: false }`. */
export function auditCommands(audit: AuditLog | undefined): Readonly<Record<string, CommandHandler>> {
  const reader = audit?.reader;
  if (reader === undefined) {
    const none: CommandHandler = async () => ({ isKept: false });
    return { [AuditCommand.Search]: none, [AuditCommand.State]: none };
  }
  return {
    [AuditCommand.Search]: (body) => reader.search(searchIn(body)).catch(inWords),
    [AuditCommand.State]: () => reader.state().catch(inWords),
  };
}

function inWords(error: unknown): never {
  throw error instanceof AuditFileError ? new ToolError(ToolErrorCode.Unavailable, error.message) : error;
}

const isText = (value: unknown): boolean => value === undefined || typeof value === "string";
const isNumber = (value: unknown): boolean => value === undefined || typeof value === "number";

/** @throws {ToolError} */
function searchIn(body: Readonly<Record<string, unknown>>): AuditSearch {
  const { caller, tool, operator, after, before, from } = body;
  const isSearch = [caller, tool, operator].every(isText) && [after, before].every(isNumber) && isPlaces(from);
  if (!isSearch)
    throw new ToolError(
      ToolErrorCode.InvalidArguments,
      "Cannot search the audit log: the command asks for nothing known",
    );
  return { caller, tool, operator, after, before, from } as AuditSearch;
}

/** Tells whether a value says where searches of logs go on. */
export const isPlaces = (value: unknown): value is Readonly<Record<string, AuditPlace>> | undefined =>
  value === undefined || (isRecord(value) && Object.values(value).every(isPlace));

const isPlace = (value: unknown): boolean =>
  isRecord(value) && [value["seq"], value["at"]].every((each) => Number.isSafeInteger(each) && Number(each) >= 0);
