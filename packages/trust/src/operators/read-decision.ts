import type { Approval } from "./approvals.ts";

/** The longest note that an operator may leave, in characters. */
const MAX_NOTE = 500;

/** Reads what an operator decides about: tools and servers as they were shown. @returns undefined if it is nothing such */
export function readDecision(value: object): Approval | undefined {
  const { tools = [], servers = [], note } = value as Partial<Approval>;
  if (!areRecords(tools, "server", "tool", "hash") || !areRecords(servers, "server", "digest")) return undefined;
  if (note !== undefined && (typeof note !== "string" || note.length > MAX_NOTE)) return undefined;
  return { tools, servers, ...(note === undefined || note === "" ? {} : { note }) };
}

function areRecords(value: unknown, ...fields: readonly string[]): boolean {
  return Array.isArray(value) && value.every((one) => fields.every((field) => typeof one?.[field] === "string"));
}
