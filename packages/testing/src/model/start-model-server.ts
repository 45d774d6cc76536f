import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { ModelFault, ModelProtocol, ModelScript, ModelServerRequest, ModelStep } from "./model-script.ts";
import { createPromptCache, type PromptCache } from "./prompt-cache.ts";
import { readRequest, type ServerRules } from "./read-request.ts";
import { anthropic } from "./speak-anthropic.ts";
import { openAi } from "./speak-openai.ts";
import type { Speech } from "./speech.ts";
import { streamStep } from "./stream-step.ts";

export interface StartModelServerOptions {
  /** @default ["test-model"] */
  readonly models?: readonly string[];
  /** True if requests need the key. Ollama's do not. @default true */
  readonly needsKey?: boolean;
  /** More input is refused as the maker refuses it. A token is four characters. @default 128_000 */
  readonly contextTokens?: number;
  /** @default 64_000 */
  readonly maxOutputTokens?: number;
}

/** A model behind HTTP. */
export interface ModelServer extends AsyncDisposable {
  /** The base of both protocols, `/v1` included. */
  readonly url: string;
  readonly apiKey: string;
  readonly model: string;
  /** The requests in the order in which they came, those refused included. */
  readonly requests: readonly ModelServerRequest[];
  /** Another script from the next request on; a list begins with its first step. */
  play(script: ModelScript): void;
}

const SPEECHES: Readonly<Record<string, { readonly protocol: ModelProtocol; readonly speech: Speech }>> = {
  "/v1/chat/completions": { protocol: "openai", speech: openAi },
  "/v1/messages": { protocol: "anthropic", speech: anthropic },
};

const API_KEY = "sk-test-0123456789abcdef";

/**
 * A model's server on a free port of 127.0.0.1, which speaks the protocols of OpenAI and Anthropic, streamed or whole,
 * and answers by a script. It checks each request as strictly as those makers do, and refuses a bad one in their words,
 * without asking the script.
 */
export async function startModelServer(
  script: ModelScript,
  {
    models = ["test-model"],
    needsKey = true,
    contextTokens = 128_000,
    maxOutputTokens = 64_000,
  }: StartModelServerOptions = {},
): Promise<ModelServer> {
  const requests: ModelServerRequest[] = [];
  const rules: ServerRules = { models, apiKey: needsKey ? API_KEY : undefined, contextTokens, maxOutputTokens };
  const cache = createPromptCache();
  let next = stepper(script);

  async function serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, headers } = incoming;
    const path = (incoming.url ?? "/").split("?")[0] as string;
    if (path === "/v1/models" && method === "GET") return list(response, headers, rules);
    const found = SPEECHES[path];
    if (found === undefined || method !== "POST")
      return fail(response, openAi, {
        status: 404,
        message: `Invalid URL (${method} ${path})`,
        type: "invalid_request_error",
      });
    const raw = await text(incoming);
    const { request, fault } = readRequest(found, { index: requests.length, path, headers, raw }, rules);
    requests.push(request);
    if (fault !== undefined) return fail(response, found.speech, fault);
    return answer(response, { speech: found.speech, request, step: await next(request), cache });
  }

  const server = createServer((request, response) => {
    // The client may leave at any time: an answer that is still being written then has nobody to tell.
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    apiKey: API_KEY,
    model: models[0] ?? "",
    requests,
    play(another) {
      next = stepper(another);
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A script that is over answers 400, which nobody tries again. */
function stepper(script: ModelScript): (request: ModelServerRequest) => ModelStep | Promise<ModelStep> {
  if (typeof script === "function") return script;
  let at = 0;
  return () =>
    script[at++] ?? {
      status: 400,
      error: { message: `The script has ${script.length} steps, and this is request ${at}.` },
    };
}

interface Asked {
  readonly speech: Speech;
  readonly request: ModelServerRequest;
  readonly step: ModelStep;
  readonly cache: PromptCache;
}

async function answer(response: ServerResponse, { speech, request, step, cache }: Asked): Promise<void> {
  if (step.delayMs !== undefined) await sleep(step.delayMs);
  if (response.destroyed) return;
  if (step.json !== undefined) return send(response, 200, step.json, step.headers);
  const fault = speech.faultOf(step);
  if (step.status !== undefined && step.errorAfter === undefined) return fail(response, speech, fault, step.headers);
  const cached = step.usage?.cachedInputTokens ?? cache.use(request);
  if (request.body.stream !== true) return send(response, 200, speech.whole(step, request, cached), step.headers);
  const last = speech.last === undefined ? {} : { last: speech.last };
  return streamStep(response, step, {
    events: speech.events(step, request, cached),
    error: speech.errorEvent(fault),
    ...last,
  });
}

function list(response: ServerResponse, headers: IncomingHttpHeaders, { models, apiKey }: ServerRules): void {
  const isKnown = apiKey === undefined || openAi.keyOf(headers) === apiKey || anthropic.keyOf(headers) === apiKey;
  const data = models.map((id) => ({ id, object: "model", created: 1_700_000_000, owned_by: "test" }));
  if (isKnown) send(response, 200, { object: "list", data });
  else fail(response, openAi, openAi.noKey());
}

function fail(
  response: ServerResponse,
  speech: Speech,
  fault: ModelFault,
  headers: Readonly<Record<string, string>> = {},
): void {
  send(response, fault.status, speech.faultBody(fault), headers);
}

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}
