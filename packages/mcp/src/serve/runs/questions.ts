import { createHash } from "node:crypto";
import {
  createRequestStateCodec,
  type InputRequiredResult,
  isSpecType,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { isRecord } from "@rockbot/base";
import { canonicalJson } from "@rockbot/contracts";
import type { OfferedQuestion, OfferedRuns } from "../tool-source.ts";

/** What a question of a call is sealed to, besides its caller. */
interface Asked {
  readonly id: string;
  readonly key: string;
  /** The hash of tool and arguments. */
  readonly call: string;
}

/** As long as a question waits for its answer. */
const SEALED_S = 24 * 3_600;

/** A form of the protocol for a question; undefined if its schema is none that a form can show. */
export function formOf({ message, schema }: OfferedQuestion) {
  const params = { mode: "form" as const, message, requestedSchema: schema };
  return isSpecType.ElicitRequestFormParams(params) ? { method: "elicitation/create" as const, params } : undefined;
}

/** What a person has said to a form: the content, or undefined for no answer. @throws {ProtocolError} */
export function contentOf(key: string, given: unknown): object | undefined {
  const { action, content = {} } = isRecord(given) ? given : {};
  if (action === "decline" || action === "cancel") return undefined;
  if (action === "accept" && isRecord(content)) return content;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `inputResponses[${JSON.stringify(key)}]: expected the result of an elicitation, with the action accept, decline or cancel`,
  );
}

/**
 * Asks the person behind a client by the protocol's `input_required`, and takes the answer from the request that repeats
 * the call. What the client gives back is sealed to its caller, the call and a day.
 */
export class CallQuestions {
  readonly #runs: OfferedRuns | undefined;
  readonly #codec: RequestStateCodec<Asked> | undefined;

  constructor(runs: OfferedRuns | undefined) {
    this.#runs = runs;
    if (runs?.sealKey !== undefined)
      this.#codec = createRequestStateCodec<Asked>({
        key: runs.sealKey,
        ttlSeconds: SEALED_S,
        bind: ({ http }) => http?.authInfo?.clientId ?? "",
      });
  }

  /** Opens what a client gives back. @throws for what was not sealed for this caller, or too long ago */
  readonly verify = async (state: string, ctx: ServerContext): Promise<Asked> => {
    if (this.#codec === undefined) throw new Error("nobody behind a client is asked here");
    return this.#codec.verify(state, ctx);
  };

  /**
   * Takes the answer of a request that repeats a call with it.
   * @returns the id of the call; undefined if this is none
   */
  async take({ mcpReq }: ServerContext, name: string, args: object): Promise<string | undefined> {
    const asked = mcpReq.requestState<Asked>();
    if (asked === undefined) return undefined;
    if (asked.call !== callHash(name, args))
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        "Cannot go on with the call: the requestState is of another one. Send it with the same name and arguments",
      );
    const given = mcpReq.inputResponses?.[asked.key];
    if (given !== undefined) await this.#runs?.answer(asked.id, asked.key, contentOf(asked.key, given));
    return asked.id;
  }

  /** The result by which the client asks its person; undefined if it cannot. */
  async ask(
    id: string,
    question: OfferedQuestion,
    { name, args, ctx }: { readonly name: string; readonly args: object; readonly ctx: ServerContext },
  ): Promise<InputRequiredResult | undefined> {
    const form = formOf(question);
    if (form === undefined || this.#codec === undefined) return undefined;
    const { key } = question;
    const requestState = await this.#codec.mint({ id, key, call: callHash(name, args) }, ctx);
    return { resultType: "input_required", inputRequests: { [key]: form }, requestState };
  }
}

const callHash = (name: string, args: object): string =>
  createHash("sha256")
    .update(canonicalJson([name, args]))
    .digest("base64url");
