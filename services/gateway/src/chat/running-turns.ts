import { createHash } from "node:crypto";
import { canonicalJson, ToolError, type ToolInvokeResponse } from "@rockbot/contracts";
import { HttpErrorCode } from "../http/http-error.ts";

/** A request's part in a turn. */
export interface TurnVisit {
  readonly result: Promise<ToolInvokeResponse>;
  /** True if the turn ran already when the request came. */
  readonly hasJoined: boolean;
  /**
   * The client is gone. The turn ends with its last client, unless one of them wants it to go on, and not too many do
   * already.
   */
  leave(reason: ToolError): void;
}

export interface VisitOptions {
  /** Whose turn it is. */
  readonly by: string | undefined;
  readonly toolCallId: string;
  /** The arguments of the turn. */
  readonly input: object;
  /** True if the turn goes on without its clients. */
  readonly goesOn: boolean;
}

interface Turn {
  readonly by: string | undefined;
  readonly result: Promise<ToolInvokeResponse>;
  readonly fingerprint: string;
  readonly gone: AbortController;
  clients: number;
  goesOn: boolean;
}

/** So many turns of one caller go on without a client, and so many of all: they hold calls that others may want. */
const MAX_LEFT = { ofOne: 32, ofAll: 128 } as const;

/**
 * The turns that run for clients of this process. Requests with the same id are one turn: a client whose stream was cut
 * off comes back to it.
 */
export class RunningTurns {
  readonly #turns = new Map<string, Turn>();

  /**
   * Joins the turn of that id, or starts it.
   * @param start makes the call of the turn; `gone` aborts when no client waits for it
   * @throws {ToolError} `conflict` if the one that runs has other arguments
   */
  visit(
    { toolCallId, by, input, goesOn }: VisitOptions,
    start: (gone: AbortSignal) => Promise<ToolInvokeResponse>,
  ): TurnVisit {
    const fingerprint = createHash("sha256").update(canonicalJson(input)).digest("hex");
    const running = this.#turns.get(toolCallId);
    if (running !== undefined && running.fingerprint !== fingerprint) {
      throw new ToolError(
        HttpErrorCode.Conflict,
        "Cannot take the request: another request with this Idempotency-Key still runs. Send another key",
      );
    }
    const turn = running ?? this.#start({ toolCallId, by, fingerprint }, start);
    turn.clients++;
    turn.goesOn ||= goesOn;
    let isHere = true;
    return {
      result: turn.result,
      hasJoined: running !== undefined,
      leave: (reason) => {
        if (!isHere) return;
        isHere = false;
        turn.clients--;
        if (turn.clients === 0 && !(turn.goesOn && this.#mayBeLeft(turn))) turn.gone.abort(reason);
      },
    };
  }

  #mayBeLeft({ by }: Turn): boolean {
    const left = [...this.#turns.values()].filter(({ clients }) => clients === 0); // this one is among them
    return left.length <= MAX_LEFT.ofAll && left.filter((turn) => turn.by === by).length <= MAX_LEFT.ofOne;
  }

  #start(
    { toolCallId, ...of }: Pick<Turn, "by" | "fingerprint"> & { readonly toolCallId: string },
    start: (gone: AbortSignal) => Promise<ToolInvokeResponse>,
  ): Turn {
    const gone = new AbortController();
    const result = start(gone.signal).finally(() => void this.#turns.delete(toolCallId));
    result.catch(() => {}); // its clients may all be gone
    const turn = { ...of, result, gone, clients: 0, goesOn: false };
    this.#turns.set(toolCallId, turn);
    return turn;
  }
}
