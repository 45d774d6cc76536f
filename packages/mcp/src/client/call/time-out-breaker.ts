import { OldestFirstMap } from "@rockbot/base";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";

/** From so many time-outs in a row on, calls of a tool are refused. */
const BROKEN_AFTER = 5;
/** For so long; then one is tried. */
const OPEN_MS = 30_000;
const MAX_TOOLS = 1_000;

interface Row {
  count: number;
  /** The longest time that one of them had. */
  longestMs: number;
  openUntil: number;
}

/**
 * Refuses calls of a tool that has not answered the last ones in time, so that not each costs its caller all its time.
 * A call that has more time than each of those had is made. So a caller that gives little time keeps nobody else from a
 * tool that needs more.
 */
export class TimeOutBreaker {
  readonly #rows = new OldestFirstMap<string, Row>();

  /** True if calls of a tool are refused now. */
  get isOpen(): boolean {
    const now = performance.now();
    return [...this.#rows].some(([, { count, openUntil }]) => count >= BROKEN_AFTER && now < openUntil);
  }

  /** Why a call with so much time is not made; undefined if it is. */
  refusal(server: string, tool: string, leftMs: number): ToolError | undefined {
    const row = this.#rows.get(tool);
    if (row === undefined || row.count < BROKEN_AFTER || leftMs > row.longestMs) return undefined;
    const now = performance.now();
    if (now >= row.openUntil) {
      row.openUntil = now + OPEN_MS; // this one is tried
      return undefined;
    }
    return new ToolError(
      ToolErrorCode.Unavailable,
      `"${tool}" of the MCP server "${server}" has not answered its last ${row.count} calls in time, with up to ${Math.ceil(row.longestMs / 1_000)} s each. Nothing was run. Try again later, or with more time.`,
      {
        retryAfterMs: Math.max(1, Math.ceil(row.openUntil - now)),
        details: { mayHaveRun: false, reason: "time_outs" },
      },
    );
  }

  timedOut(tool: string, hadMs: number): void {
    const row = this.#rows.get(tool) ?? { count: 0, longestMs: 0, openUntil: 0 };
    this.#rows.set(tool, {
      count: row.count + 1,
      longestMs: Math.max(row.longestMs, hadMs),
      openUntil: performance.now() + OPEN_MS,
    });
    this.#rows.deleteOldestWhile(() => this.#rows.size > MAX_TOOLS);
  }

  answered(tool: string): void {
    this.#rows.delete(tool);
  }
}
