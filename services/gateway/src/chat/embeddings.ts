import { describeFaults, newId, type ToolAgentEmbedOutput, ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import type { ToolCaller } from "@rockbot/tools";
import type { Context } from "hono";
import { asToolError } from "../calls/as-tool-error.ts";
import { readCallHeaders } from "../calls/call-headers.ts";
import type { InvokeOptions } from "../calls/invoke.ts";
import type { GatewayEnv } from "../door/guard.ts";
import { readChatBody } from "../http/read-body.ts";
import { noModel } from "./models.ts";
import { noAgent, orNoAgent } from "./no-agent.ts";
import { answerOpenAiError } from "./openai-error.ts";
import { AGENT_MODEL } from "./read-chat-request.ts";

const { name: toolName } = tools.agentEmbed;

/** Answers `POST /v1/embeddings` as OpenAI does: a call of the agent's tool, which has the model and its key. */
export function embeddings(
  caller: ToolCaller,
  { timeoutMs: ownMs, maxTimeoutMs, refusals, signal: ending, log }: InvokeOptions,
) {
  return async (c: Context<GatewayEnv>): Promise<Response> => {
    const onBehalfOf = c.get("caller");
    const gone = new AbortController();
    const call = { toolCallId: newId(), toolName };
    const refused = {
      ...call,
      caller: onBehalfOf ?? caller.agent,
      args: undefined as object | undefined,
      receivedAt: performance.now(),
    };
    let isSent = false;
    const onSent = () => {
      isSent = true;
    };
    c.env.outgoing.once("close", () =>
      gone.abort(new ToolError(ToolErrorCode.Cancelled, "Cannot make embeddings: the client closed the connection")),
    );
    try {
      const { timeoutMs, hasReadUntrusted } = readCallHeaders((name) => c.req.header(name), {
        timeoutMs: ownMs,
        maxTimeoutMs,
        caller: onBehalfOf,
      });
      const body = readChatBody(c.get("body"), c.env.incoming.headers);
      const args = readRequest(body);
      refused.args = args;
      await caller.discovered();
      if (caller.tools.get(tools.agentChat.name) === undefined) throw noAgent();
      if (caller.tools.get(toolName) === undefined)
        throw noModel(args.model ?? AGENT_MODEL, "the agent has no model for embeddings");
      const signal = ending === undefined ? gone.signal : AbortSignal.any([gone.signal, ending]);
      const { structured } = await caller.call(toolName, args, {
        toolCallId: call.toolCallId,
        timeoutMs,
        onBehalfOf,
        hasReadUntrusted,
        signal,
        onSent,
      });
      return c.json(answerOf(structured as unknown as ToolAgentEmbedOutput, body["encoding_format"] === "base64"));
    } catch (error) {
      const toolError = orNoAgent(asToolError(error, toolName, { caller, isSent, signal: ending, log }), caller);
      if (!isSent) await refusals?.call({ ...refused, error: toolError });
      return answerOpenAiError(c, toolError, call);
    }
  };
}

/** @throws {ToolError} `invalid_arguments`, in the request's own words */
function readRequest({ input, model, dimensions }: Readonly<Record<string, unknown>>) {
  const refuse = (faults: string, param: string | undefined): never => {
    const message = `Cannot take the request: ${faults}`;
    throw new ToolError(ToolErrorCode.InvalidArguments, message, { details: { param } });
  };
  const texts = [input ?? []].flat();
  if (texts.length === 0 || !texts.every((text) => typeof text === "string"))
    refuse("input: expected a text or a list of texts. Send texts, not tokens", "input");
  const args = {
    texts: texts as string[],
    ...(model == null || model === AGENT_MODEL ? {} : { model: String(model) }),
    ...(dimensions == null ? {} : { dimensions: dimensions as number }),
  };
  const { validateInput, inputSchema } = tools.agentEmbed;
  if (validateInput(args)) return args;
  const paramOf = (path: string): string => {
    const [, name = "", index] = path.split("/");
    if (name !== "texts") return name;
    return index === undefined || !Array.isArray(input) ? "input" : `input[${index}]`;
  };
  const faults = describeFaults(validateInput, inputSchema, args).map(({ path, message }) => ({
    param: paramOf(path),
    message,
  }));
  return refuse(faults.map(({ param, message }) => `${param}: ${message}`).join("; "), faults[0]?.param);
}

function answerOf(
  { model, embeddings: vectors, input_tokens: tokens }: ToolAgentEmbedOutput,
  isBase64: boolean,
): object {
  const numbersOf = (text: string): number[] => [
    ...new Float32Array(Uint8Array.from(Buffer.from(text, "base64")).buffer),
  ];
  const data = vectors.map((vector, index) => ({
    object: "embedding",
    index,
    embedding: isBase64 ? vector : numbersOf(vector),
  }));
  return { object: "list", data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } };
}
