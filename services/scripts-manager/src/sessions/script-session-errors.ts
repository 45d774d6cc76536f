import { type ContentTrust, ToolError, ToolErrorCode } from "@rockbot/contracts";

/** What is remembered of a cell. */
export interface CellLine {
  readonly cell: number;
  /** The first line of its source. */
  readonly line: string;
}

/** What an error tells of a session. */
export interface ToldSession {
  readonly name: string;
  readonly lines: readonly CellLine[];
  readonly trust: ContentTrust | undefined;
}

export const noSessions = (): ToolError =>
  new ToolError(
    ToolErrorCode.Denied,
    "The cell was not run: scripts can have no session here. Leave session out, and put all that belongs together into one script.",
    { details: { reason: "script_sessions", mayHaveRun: false } },
  );

export const sessionGone = ({ name, lines, trust }: ToldSession, why: string): ToolError =>
  new ToolError(
    ToolErrorCode.ExecutionFailed,
    `The cell was not run: the session "${name}" is over, since ${why}. Its variables, imports and files are gone. ${lastCells(lines)} Begin again under another name, or end the session with end_script_session to use its name again.`,
    { trust, details: { reason: "session_gone", mayHaveRun: false } },
  );

export const sessionElsewhere = (name: string): ToolError =>
  new ToolError(
    ToolErrorCode.Unavailable,
    `Not done: another instance of this service has the session "${name}". Try again: the next call may reach it.`,
    { retryAfterMs: 500, details: { reason: "session_elsewhere", mayHaveRun: false } },
  );

export const notShared = (name: string, cause: Error): ToolError =>
  new ToolError(
    ToolErrorCode.Unavailable,
    `Not done: nobody can tell now whether there is a session "${name}", as the record of sessions does not answer. Try again later, or leave session out.`,
    { cause, retryAfterMs: 5_000, details: { reason: "session_record", mayHaveRun: false } },
  );

/** A cell that ran when its session was ended. */
export const endedWithSession = ({ name, lines, trust }: ToldSession, why: string): ToolError =>
  new ToolError(
    ToolErrorCode.ExecutionFailed,
    `The cell was ended while it ran: the session "${name}" is over, since ${why}. Its variables, imports and files are gone, and so is what the cell printed. ${lastCells(lines)} Begin again under another name.`,
    { trust, details: { reason: "session_gone", mayHaveRun: true } },
  );

export const sessionBusy = ({ name }: ToldSession): ToolError =>
  new ToolError(
    ToolErrorCode.Overloaded,
    `The cell was not run: the session "${name}" runs another one, and runs one at a time. Try again once that has its answer.`,
    { retryAfterMs: 1_000, details: { reason: "session_busy", mayHaveRun: false } },
  );

export const tooManySessions = (names: readonly string[], most: number): ToolError =>
  new ToolError(
    ToolErrorCode.RateLimited,
    `The session was not begun: its caller has ${names.map((name) => `"${name}"`).join(" and ")}, and may have ${most}. Use one of these, or end one with end_script_session.`,
    { isRetryable: false, details: { reason: "session_count", mayHaveRun: false } },
  );

export const noRoomForSession = (most: number): ToolError =>
  new ToolError(
    ToolErrorCode.Overloaded,
    `The session was not begun: ${most} sessions of all callers run here already. Leave session out, or try again later.`,
    { retryAfterMs: 60_000, details: { reason: "session_room", mayHaveRun: false } },
  );

export const packagesTooLate = (name: string): ToolError =>
  new ToolError(
    ToolErrorCode.InvalidArguments,
    `The cell was not run: the session "${name}" has begun with other packages. Name pip_packages in the first cell of a session, and the same or none later.`,
    { details: { reason: "session_packages", mayHaveRun: false } },
  );

/** A cell that an earlier process has begun. */
export const lostCell = (name: string): ToolError =>
  new ToolError(
    ToolErrorCode.OutcomeUnknown,
    `The outcome of the cell is lost, and it was not run again. The session "${name}" may be over. Look with list_script_sessions.`,
    { details: { mayHaveRun: true } },
  );

function lastCells(lines: readonly CellLine[]): string {
  if (lines.length === 0) return "It had run no cell.";
  return `Its last cells began with: ${lines.map(({ cell, line }) => `${cell}: ${line}`).join(" | ")}.`;
}
