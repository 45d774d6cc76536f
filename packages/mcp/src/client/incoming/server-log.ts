import { Buckets, type Charge } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { cleanText } from "../../text/clean-text.ts";
import { dataText } from "../../text/data-text.ts";

export interface ServerLogOptions {
  readonly server: string;
  readonly log: Logger;
  readonly redact: (text: string) => string;
  /** Asked for each frame: true to write it to the log. @default none is */
  readonly isTraced?: (() => boolean) | undefined;
}

const MAX_TEXT = 500;
const MAX_FRAME = 4_000;
/** So many lines in this time; further ones are counted. */
const LINE: Charge = { key: "line", amount: 20, perMs: 10_000, cost: 1 };
const FRAME: Charge = { ...LINE, key: "frame", amount: 500 };
/** The protocol's levels in ours. A stranger's errors are not ours, so that nobody is woken for them. */
const LEVELS: Readonly<Record<string, "debug" | "info" | "warn">> = {
  debug: "debug",
  warning: "warn",
  error: "warn",
  critical: "warn",
  alert: "warn",
  emergency: "warn",
};

/**
 * A server's lines for a log, and its messages where an operator wants to see them, in the log of this process. They
 * get a bounded share of it, as a server that floods it pushes out the lines of others.
 */
export class ServerLog {
  readonly #options: ServerLogOptions;
  readonly #lines = new Buckets({ maxBuckets: 2 });
  #unsaid = 0;

  constructor(options: ServerLogOptions) {
    this.#options = options;
  }

  say(params: unknown): void {
    const unsaid = this.#take(LINE);
    if (unsaid === undefined) return;
    const { server, log, redact } = this.#options;
    const { level, logger, data } = (typeof params === "object" && params !== null ? params : {}) as Readonly<
      Record<string, unknown>
    >;
    const from = typeof logger === "string" ? { logger: cleanText(logger, 80) } : {};
    log[LEVELS[String(level)] ?? "info"](
      { server, ...from, said: dataText(data, redact, MAX_TEXT), ...unsaid },
      "MCP server says",
    );
  }

  /** A message to the server or from it. An operator asks for it: it is written whatever else the log leaves out. */
  trace(direction: "sent" | "received", frame: unknown): void {
    const { server, log, redact, isTraced } = this.#options;
    const unsaid = isTraced?.() === true ? this.#take(FRAME) : undefined;
    if (unsaid !== undefined)
      log.warn({ server, direction, frame: dataText(frame, redact, MAX_FRAME), ...unsaid }, "MCP frame");
  }

  /** How many lines and messages were left out before, or undefined if this one is. */
  #take(charge: Charge): { readonly unsaid?: number } | undefined {
    const unsaid = this.#unsaid;
    const isTaken = this.#lines.take([charge]) === undefined;
    this.#unsaid = isTaken ? 0 : unsaid + 1;
    return isTaken ? { ...(unsaid > 0 && { unsaid }) } : undefined;
  }
}
