import { isIPv6 } from "node:net";
import { metrics } from "@opentelemetry/api";
import type { AuditLog } from "@rockbot/audit";
import type { Logger } from "@rockbot/bus";
import { type ToolError, ToolErrorCode } from "@rockbot/contracts";

export interface RefusalLogOptions {
  /** Where a line is written for each. @default nowhere: they are logged and counted only */
  readonly audit: AuditLog | undefined;
  readonly log: Logger;
  /** How often the refusals that had no line of their own are told together. @default 60_000 */
  readonly everyMs?: number | undefined;
}

/** A call that ended in the gateway: no service has heard of it, nor has a line of it. */
export interface RefusedCall {
  readonly caller: string;
  readonly toolName: string;
  readonly toolCallId: string;
  /** The arguments, if they could be read. */
  readonly args: object | string | undefined;
  readonly error: ToolError;
  /** On the clock of `performance.now()`. */
  readonly receivedAt: number;
}

/** Who has been refused, for what, and how often since it was told. */
interface Tally {
  readonly fields: Readonly<Record<string, string>>;
  /** Lines of their own in this while. */
  lines: number;
  /** Those that had none. */
  count: number;
}

const SERVICE = "gateway";
const EVERY_MS = 60_000;
/** Refused calls of one caller that have lines of their own in a while. */
const LINES_A_CALLER = 60;
/** Addresses, and callers, that are told apart in a while: all others are told together. So no flood fills a disk. */
const MAX_ADDRESSES = 20;
const MAX_CALLERS = 1_000;
const OTHERS = "others";

/**
 * Tells of what is refused at the front door, in the audit log and in the log: of requests by address, and never their token; of calls by
 * caller. What comes often is told at once for the first, and then each minute as a number.
 */
export class RefusalLog implements AsyncDisposable {
  readonly #options: RefusalLogOptions;
  readonly #counter = metrics
    .getMeter("@rockbot/gateway")
    .createCounter("rockbot.gateway.refusals", { description: "Requests and calls that were refused at the gateway, by reason." });
  readonly #addresses = new Map<string, Tally>();
  readonly #callers = new Map<string, Tally>();
  readonly #telling: NodeJS.Timeout;

  constructor(options: RefusalLogOptions) {
    this.#options = options;
    this.#telling = setInterval(() => this.#tell(), options.everyMs ?? EVERY_MS).unref();
  }

  /** A request that nobody stands behind who is known here: without a token that holds, or from a page that may not ask. */
  request(remoteAddress: string | undefined, { code }: ToolError): void {
    this.#counter.add(1, { reason: code });
    const tally = tallyOf(this.#addresses, MAX_ADDRESSES, "address", networkOf(remoteAddress), code);
    tally.count++;
    if (tally.lines === 0) this.#tellOf(tally);
  }

  /** Resolves once its line is written: see AuditLog.write. */
  async call({ caller, toolName, toolCallId, args, error, receivedAt }: RefusedCall): Promise<void> {
    const { code, details } = error;
    this.#counter.add(1, { reason: code });
    const tally = tallyOf(this.#callers, MAX_CALLERS, "caller", caller, code);
    if (tally.lines >= LINES_A_CALLER) {
      tally.count++;
      return;
    }
    tally.lines++;
    const isDenied = code === ToolErrorCode.Denied;
    await this.#options.audit?.write({
      service: SERVICE,
      caller,
      tool: toolName,
      toolCallId,
      arguments: typeof args === "object" ? JSON.stringify(args) : (args ?? ""),
      decision: isDenied ? "denied" : "none",
      policy: isDenied && typeof details?.["revision"] === "string" ? details["revision"] : undefined,
      outcome: code,
      durationMs: Math.round((performance.now() - receivedAt) * 1000) / 1000,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#telling);
    this.#tell();
  }

  #tell(): void {
    for (const tallies of [this.#addresses, this.#callers]) {
      for (const tally of tallies.values()) if (tally.count > 0) this.#tellOf(tally);
      tallies.clear();
    }
  }

  #tellOf(tally: Tally): void {
    const fields = { ...tally.fields, count: tally.count };
    tally.lines++;
    tally.count = 0;
    this.#options.log.warn(fields, "requests were refused at the front door");
    void this.#options.audit?.write({ event: "refused", service: SERVICE, ...fields });
  }
}

/** The tally of one, or of all others once there are as many as are told apart. */
function tallyOf(tallies: Map<string, Tally>, max: number, kind: "address" | "caller", name: string, outcome: string): Tally {
  const keyOf = (who: string) => `${outcome} ${who}`;
  const who = tallies.has(keyOf(name)) || tallies.size < max ? name : OTHERS;
  const known = tallies.get(keyOf(who));
  if (known !== undefined) return known;
  const tally = { fields: { [kind]: who, outcome }, lines: 0, count: 0 };
  tallies.set(keyOf(who), tally);
  return tally;
}

const IPV6_GROUPS = 8;

/** The address; of IPv6 the network of 64 bits, as one client has all of it. */
function networkOf(address: string | undefined): string {
  if (address === undefined) return "this machine";
  const mapped = address.replace(/^::ffff:/i, "");
  if (!isIPv6(mapped)) return mapped;
  const [head = [], tail = []] =
    mapped
      .split("%", 1)[0]
      ?.split("::")
      .map((part) => part.split(":").filter((group) => group !== "")) ?? [];
  const groups = [...head, ...Array.from({ length: IPV6_GROUPS - head.length - tail.length }, () => "0"), ...tail];
  return `${groups.slice(0, IPV6_GROUPS / 2).join(":")}::/64`;
}
