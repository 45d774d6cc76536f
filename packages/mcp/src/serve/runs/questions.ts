import { createHash } from "node:crypto";
import {
  createRequestStateCodec,
  type ElicitRequestFormParams,
  type InputRequests,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { isRecord } from "@rockbot/base";
import { canonicalJson } from "@rockbot/contracts";
import type { OfferedRun, OfferedRuns } from "../tool-source.ts";

type Question = NonNullable<OfferedRun["question"]>;

/** What a question of a call is sealed to, besides its caller and a day. `call` hashes tool and arguments. */
interface Asked {
  readonly id: string;
  readonly key: string;
  readonly call: string;
}

/** As long as a question waits for its answer. */
const SEALED_S = 24 * 3_600;

/** The question that a client asks its person by a form. */
export const formsFor = ({ key, message, schema }: Question): InputRequests => ({
  [key]: {
    method: "elicitation/create",
    params: { mode: "form", message, requestedSchema: schema as ElicitRequestFormParams["requestedSchema"] },
  },
});

/**
 * What a person has filled in; undefined for one who does not want to answer.
 * @throws for what is no result of an elicitation: nobody has said no by it
 */
export function contentOf(given: unknown): object | undefined {
  const { action, content = {} }: Readonly<Record<string, unknown>> = isRecord(given) ? given : {};
  if (action === "accept" && isRecord(content)) return content;
  if (action === "decline" || action === "cancel") return undefined;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, NO_ANSWER);
}

/** Asks the persons behind clients by the protocol's `input_required`. The repeated call has the answer. */
export type CallQuestions = ReturnType<typeof callQuestions>;

export function callQuestions(runs: OfferedRuns | undefined) {
  const bind = ({ http }: ServerContext): string => http?.authInfo?.clientId ?? "";
  const key = runs?.sealKey;
  const codec = key && createRequestStateCodec<Asked>({ key, ttlSeconds: SEALED_S, bind });
  return {
    /** Opens what a client gives back. @throws for what was not sealed for this caller, or too long ago */
    async verify(state: string, ctx: ServerContext): Promise<Asked> {
      if (codec === undefined) throw new Error("nobody behind a client is asked here");
      return codec.verify(state, ctx);
    },
    /** Takes the answer of a request that repeats a call. @returns the id of the call; undefined if it repeats none */
    async take({ mcpReq }: ServerContext, name: string, args: object): Promise<string | undefined> {
      const asked = mcpReq.requestState<Asked>();
      if (asked === undefined) return undefined;
      if (asked.call !== callHash(name, args)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, OTHER_CALL);
      const given = mcpReq.inputResponses?.[asked.key];
      if (given !== undefined) await runs?.answer(asked.id, asked.key, contentOf(given));
      return asked.id;
    },
    /** The result by which a client asks its person. */
    async ask(id: string, question: Question, call: { name: string; args: object; ctx: ServerContext }) {
      const asked = { id, key: question.key, call: callHash(call.name, call.args) };
      const requestState = await codec?.mint(asked, call.ctx);
      const inputRequests = formsFor(question);
      return { resultType: "input_required", inputRequests, requestState } as InputRequiredResult;
    },
  };
}

const NO_ANSWER =
  'The answer to a question is the result of its elicitation: {"action":"accept","content":{…}}, or the action decline or cancel. The question waits on';
const OTHER_CALL = "The requestState is of another call: send it with the same name and arguments as before";

const callHash = (name: string, args: object): string =>
  createHash("sha256")
    .update(canonicalJson([name, args]))
    .digest("base64url");
