/**
 * The model of the bench as a process of its own: `node model-service.ts DELAY_MS`. Says on stdout where it is, as
 * JSON: a ModelPlace. It makes the calls that a message asks for, two at once, and then answers in TEXT. Each answer
 * begins DELAY_MS after its request.
 */
import diagnostics from "node:diagnostics_channel";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type ModelServerRequest, type ModelStep, startModelServer } from "@rockbot/testing";
import { type ModelPlace, readMessage, TEXT } from "./load.ts";

const delayMs = Number(process.argv[2]);
/** When requests came, and the turns that they are of, by the object of their headers: the one thing that both know. */
const begins = new WeakMap<object, number>();
const turns = new WeakMap<object, string>();
/**
 * How long the requests of each turn took here: from the head of the request until the end of the answer was handed to
 * the system.
 */
const times = new Map<string, number>();

diagnostics.subscribe("http.server.request.start", (message) => {
  begins.set((message as { readonly request: IncomingMessage }).request.headers, performance.now());
});
diagnostics.subscribe("http.server.response.finish", (message) => {
  const { headers } = (message as { readonly request: IncomingMessage }).request;
  const turn = turns.get(headers);
  if (turn !== undefined)
    times.set(turn, (times.get(turn) ?? 0) + performance.now() - (begins.get(headers) ?? Number.NaN));
});

function script({ messages, headers }: ModelServerRequest): ModelStep {
  (model.requests as ModelServerRequest[]).length = 0; // nobody reads them here
  const at = messages.findLastIndex(({ role }) => role === "user");
  const { turn, calls } = readMessage(messages[at]?.text ?? "");
  turns.set(headers, turn);
  const usage = { cachedInputTokens: 0 };
  if (messages.length > at + 1 || calls === 0) return { delayMs, usage, text: TEXT };
  return {
    delayMs,
    usage,
    toolCalls: Array.from({ length: calls }, (_, index) => ({
      name: "effect",
      arguments: { what: `${turn} ${index}` },
    })),
  };
}

const model = await startModelServer(script);
const timesServer = createServer((_request, response) => {
  response.end(JSON.stringify(Object.fromEntries(times)));
  times.clear();
});
timesServer.listen(0, "127.0.0.1", () => {
  const place: ModelPlace = {
    env: { MODEL_URL: model.url, MODEL: model.model, MODEL_API_KEY: model.apiKey },
    timesUrl: `http://127.0.0.1:${(timesServer.address() as AddressInfo).port}`,
  };
  process.stdout.write(`${JSON.stringify(place)}\n`);
});
