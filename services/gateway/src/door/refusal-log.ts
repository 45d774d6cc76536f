import { metrics } from "@opentelemetry/api";
import type { Logger } from "@rockbot/bus";
import { type ToolError, ToolErrorCode } from "@rockbot/contracts";
import { RefusalTally, tallyByAddress } from "@rockbot/edge/inbound";
import type { AuditLog, RefusedRequests } from "@rockbot/records/audit";
import { HttpErrorCode } from "../http/http-error.ts";

export interface RefusalLogOptions {
  /** Where a line is written for each. @default nowhere: they are logged and counted only */
  readonly audit: AuditLog | undefined;
  readonly log: Logger;
  /** How often one line counts the refusals that had no line of their own. @default 60_000 */
  readonly everyMs?: number | undefined;
}

/** A call that ended in the gateway: no service has heard of it, nor has a line of it. */
export interface RefusedCall {
  readonly caller: string;
  /** The operator who made it as that caller. */
  readonly operator?: string | undefined;
  readonly toolName: string;
  readonly toolCallId: string;
  /** The arguments, if they could be read. */
  readonly args: object | string | undefined;
  readonly error: ToolError;
  /** The time of receipt, on the clock of `performance.now()`. */
  readonly receivedAt: number;
}

const SERVICE = "gateway";
/** Refused calls of one caller that have lines of their own in a minute. */
const LINES_A_CALLER = 60;
const MAX_CALLERS = 1_000;

/**
 * Reports refusals at the front door in the audit log and in the log. It reports requests by address, and never their
 * token; it reports calls by caller. It reports the first of a kind at once, and then a number each minute.
 */
export class RefusalLog implements Disposable {
  readonly #options: RefusalLogOptions;
  readonly #counter = metrics.getMeter("@rockbot/gateway").createCounter("rockbot.gateway.refusals", {
    description: "Requests and calls that were refused at the gateway, by reason.",
  });
  readonly #addresses: ReturnType<typeof tallyByAddress>;
  readonly #callers: RefusalTally;

  constructor(options: RefusalLogOptions) {
    const { everyMs } = options;
    this.#options = options;
    // A rate is known of a counter that was read before its first refusals: a burst of these must not come unseen.
    for (const reason of [...Object.values(ToolErrorCode), ...Object.values(HttpErrorCode)])
      this.#counter.add(0, { reason });
    this.#addresses = tallyByAddress((address, outcome, count) => this.#tell({ address, outcome, count }), everyMs);
    const tell = (caller: string, outcome: string, count: number) => this.#tell({ caller, outcome, count });
    this.#callers = new RefusalTally({ maxNames: MAX_CALLERS, ownLines: LINES_A_CALLER, tell, everyMs });
  }

  /**
   * A request that nobody stands behind who is known here: without a token that holds, or from a page that may not ask.
   */
  request(remoteAddress: string | undefined, { code }: ToolError): void {
    this.#counter.add(1, { reason: code });
    this.#addresses.note(remoteAddress, code);
  }

  /** Resolves once its line is written: see AuditLog.write. */
  async call({ caller, operator, toolName, toolCallId, args, error, receivedAt }: RefusedCall): Promise<void> {
    const { code, details } = error;
    this.#counter.add(1, { reason: code });
    if (this.#callers.note(caller, code) === undefined) return;
    const isDenied = code === ToolErrorCode.Denied;
    await this.#options.audit?.write({
      service: SERVICE,
      caller,
      operator,
      tool: toolName,
      toolCallId,
      arguments: typeof args === "object" ? JSON.stringify(args) : (args ?? ""),
      decision: isDenied ? "denied" : "none",
      policy: isDenied && typeof details?.["revision"] === "string" ? details["revision"] : undefined,
      outcome: code,
      durationMs: Math.round((performance.now() - receivedAt) * 1000) / 1000,
    });
  }

  [Symbol.dispose](): void {
    this.#addresses[Symbol.dispose]();
    this.#callers[Symbol.dispose]();
  }

  #tell(fields: Pick<RefusedRequests, "address" | "caller" | "outcome" | "count">): void {
    this.#options.log.warn(fields, "the gateway refused requests");
    void this.#options.audit?.write({ event: "refused", service: SERVICE, ...fields });
  }
}
