import { type KeyObject, randomBytes, sign, verify } from "node:crypto";
import { OldestFirstMap } from "@rockbot/base";
import type { OperatorCommand } from "@rockbot/contracts";
import { hashOf } from "@rockbot/runs";

/** The order of an operator to all instances of a service. */
export interface Command {
  /** The order, such as `cancel`. */
  readonly kind: string;
  /** The service that is to obey. */
  readonly service: string;
  /** The operator who gives it. */
  readonly operator: string;
  /** The details, by its kind. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** The text under a signature, as JSON: nothing of a command is outside of it. */
interface Signed extends Omit<Command, "body"> {
  readonly bodyHash: string;
  /** Unix milliseconds. */
  readonly at: number;
  /** Makes each command good for one time. */
  readonly nonce: string;
}

/** The time for which a command is good, either way, in milliseconds: clocks of machines differ. */
export const COMMAND_MS = 60_000;
/** Commands that are remembered. More in two minutes are refused, since none may be forgotten before it is too old. */
const MAX_NONCES = 10_000;
const NONCE_BYTES = 16;
/** The key signs nothing else that begins so. */
const PURPOSE = "rockbot operator command 1\n";

/** @param clock Unix milliseconds */
export function signCommand(
  key: KeyObject,
  { kind, service, operator, body }: Command,
  clock: () => number = Date.now,
): OperatorCommand {
  const text = JSON.stringify(body);
  const nonce = randomBytes(NONCE_BYTES).toString("base64url");
  const command = JSON.stringify({ kind, service, operator, at: clock(), nonce, bodyHash: hashOf(text) });
  return { command, body: text, signature: sign(null, Buffer.from(PURPOSE + command), key).toString("base64url") };
}

/** Tells commands of operators from all else, for one instance of a service, from its start on. */
export class CommandCheck {
  readonly #service: string;
  readonly #key: KeyObject;
  readonly #clock: () => number;
  readonly #startedAt: number;
  /** By nonce: when the command is too old to be obeyed anyway. */
  readonly #seen = new OldestFirstMap<string, number>();

  constructor(service: string, key: KeyObject, clock: () => number = Date.now) {
    this.#service = service;
    this.#key = key;
    this.#clock = clock;
    this.#startedAt = clock();
  }

  /** @returns why the message is no command for this service now, in words; each is taken once */
  take({ command, body, signature }: OperatorCommand): Command | string {
    const isSigned = verify(null, Buffer.from(PURPOSE + command), this.#key, Buffer.from(signature, "base64url"));
    if (!isSigned) return "its signature is not that of the operators' door";
    const { kind, service, operator, bodyHash, at, nonce } = JSON.parse(command) as Signed; // the key's holder wrote it
    const now = this.#clock();
    if (service !== this.#service) return `it is for "${service}"`;
    if (bodyHash !== hashOf(body)) return "its body is another than what was signed";
    if (Math.abs(now - at) > COMMAND_MS) return "it is not of this minute";
    // A command of before may have been obeyed by the process of before, which remembered it.
    if (at < this.#startedAt) return "it is older than this process";
    if (this.#seen.has(nonce)) return "it was taken before";
    this.#seen.deleteOldestWhile((endsAt) => endsAt < now);
    if (this.#seen.size >= MAX_NONCES) return "there were too many of them";
    this.#seen.set(nonce, at + COMMAND_MS);
    return { kind, service, operator, body: JSON.parse(body) as Command["body"] };
  }
}
