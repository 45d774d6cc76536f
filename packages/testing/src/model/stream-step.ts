import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { ModelStep } from "./model-script.ts";

/** An event of a stream: its lines, without the empty line after it. */
export type StreamEvent = string;

/**
 * Writes a step's events, with the silences and the breaks that it asks for. `last` ends a stream that nothing broke.
 */
export async function streamStep(
  response: ServerResponse,
  step: ModelStep,
  {
    events,
    error,
    last,
  }: { readonly events: Iterable<StreamEvent>; readonly error: StreamEvent; readonly last?: StreamEvent },
): Promise<void> {
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    ...step.headers,
  });
  response.flushHeaders();
  let sent = 0;
  for (const event of events) {
    if (sent === step.cutAfter) return breakOff(response);
    if (sent === step.endAfter) return void response.end();
    if (sent === step.stallAfter) return;
    if (sent === step.errorAfter) return void response.end(`${error}\n\n`);
    if (step.betweenMs !== undefined && sent > 0) await sleep(step.betweenMs);
    if (response.destroyed) return;
    if (!response.write(`${event}\n\n`)) await drained(response);
    sent++;
  }
  if (sent === step.cutAfter) return breakOff(response);
  if (sent === step.stallAfter) return;
  if (sent === step.errorAfter) return void response.end(`${error}\n\n`);
  response.end(last === undefined ? undefined : `${last}\n\n`);
}

/** What was written reaches the client before the connection breaks. */
function breakOff(response: ServerResponse): void {
  response.write("", () => setImmediate(() => response.destroy()));
}

/** Once more can be written, or nobody reads any more. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      response.off("drain", go).off("close", go);
      resolve();
    };
    response.on("drain", go).on("close", go);
  });
}

/** The pieces of a text, none within a character. */
export function piecesOf(text: string, length = 24): string[] {
  const characters = [...text];
  const pieces: string[] = [];
  for (let at = 0; at < characters.length; at += length) pieces.push(characters.slice(at, at + length).join(""));
  return pieces;
}

/** A call's arguments as the model writes them. */
export const argumentsOf = (value: unknown): string =>
  typeof value === "string" ? value : JSON.stringify(value ?? {});

/** Tokens as this server counts them. */
export const tokensOf = (text: string): number => Math.ceil(text.length / 4);
