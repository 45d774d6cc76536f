import type { IncomingHttpHeaders } from "node:http";
import type { ModelFault, ModelServerRequest, ModelStep, SentMessage } from "./model-script.ts";
import type { StreamEvent } from "./stream-step.ts";

type Json = Readonly<Record<string, unknown>>;

/** What differs between the protocols. */
export interface Speech {
  keyOf(headers: IncomingHttpHeaders): string | undefined;
  noKey(): ModelFault;
  noModel(model: string): ModelFault;
  tooLong(tokens: number, max: number): ModelFault;
  tooMuchOutput(asked: number, max: number): ModelFault;
  maxOutputOf(body: Json): unknown;
  /** The first reason for which the maker's API would refuse the body. */
  check(body: Json, headers: IncomingHttpHeaders): ModelFault | undefined;
  messagesOf(body: Json): readonly SentMessage[];
  toolNamesOf(body: Json): readonly string[];
  faultBody(fault: ModelFault): object;
  /** The error that a step asks for, with the maker's words where the step has none. */
  faultOf(step: ModelStep): ModelFault;
  events(step: ModelStep, request: ModelServerRequest, cachedTokens: number): Iterable<StreamEvent>;
  readonly last?: StreamEvent;
  errorEvent(fault: ModelFault): StreamEvent;
  /** The answer to a request that asked for no stream. */
  whole(step: ModelStep, request: ModelServerRequest, cachedTokens: number): object;
}
