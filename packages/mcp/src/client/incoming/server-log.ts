import { Buckets, type Charge } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { cleanText } from "../../text/clean-text.ts";
import { dataText } from "../../text/data-text.ts";

export interface ServerLogOptions {
  readonly server: string;
  readonly log: Logger;
  readonly redact: (text: string) => string;
}

const MAX_TEXT = 500;
/** So many lines in this time; further ones are counted. */
const LINE: Charge = { key: "line", amount: 20, perMs: 10_000, cost: 1 };
/** The protocol's levels in ours. A stranger's errors are not ours, so that nobody is woken for them. */
const LEVELS: Readonly<Record<string, "debug" | "info" | "warn">> = {
  debug: "debug",
  warning: "warn",
  error: "warn",
  critical: "warn",
  alert: "warn",
  emergency: "warn",
};

/** A server's lines for a log, in the log of this process. They get a bounded share of it, as a server that floods it pushes out the lines of others. */
export class ServerLog {
  readonly #options: ServerLogOptions;
  readonly #lines = new Buckets({ maxBuckets: 1 });
  #unsaid = 0;

  constructor(options: ServerLogOptions) {
    this.#options = options;
  }

  say(params: unknown): void {
    if (this.#lines.take([LINE]) !== undefined) {
      this.#unsaid++;
      return;
    }
    const { server, log, redact } = this.#options;
    const { level, logger, data } = (typeof params === "object" && params !== null ? params : {}) as Readonly<Record<string, unknown>>;
    const from = typeof logger === "string" ? { logger: cleanText(logger, 80) } : {};
    const unsaid = this.#unsaid === 0 ? {} : { unsaid: this.#unsaid };
    this.#unsaid = 0;
    log[LEVELS[String(level)] ?? "info"]({ server, ...from, said: dataText(data, redact, MAX_TEXT), ...unsaid }, "MCP server says");
  }
}
