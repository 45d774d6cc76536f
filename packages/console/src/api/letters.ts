import { eventsOf } from "./events.ts";
import { ask } from "./session.ts";

/** A message that a service parked. */
export interface Letter {
  readonly service: string;
  readonly id: string;
  readonly toolName?: string;
  readonly toolCallId?: string;
  readonly reason?: string;
  readonly parkedAt?: string;
  readonly body?: string;
  readonly [field: string]: unknown;
}

interface LetterEvent extends Record<string, unknown> {
  readonly kind: "service" | "parked" | "replayed" | "purged" | "end" | "refusal";
}

/** What became of one or many letters, in words. */
export interface Outcome {
  /** They are parked no longer. */
  readonly done: number;
  readonly kept: number;
  /** The answers, and why letters were kept. */
  readonly words: readonly string[];
}

export async function readLetters(signal: AbortSignal): Promise<readonly Letter[]> {
  const found: Letter[] = [];
  for (const event of await eventsAfter("list", {}, signal))
    if (event.kind === "parked") found.push(event as unknown as Letter);
  return found;
}

/** @throws {Error} in the gateway's words if there is no such letter any more */
export async function readLetter(service: string, id: string, signal: AbortSignal): Promise<Letter | undefined> {
  const events = await eventsAfter("show", { service, id }, signal);
  return events.find(({ kind }) => kind === "parked") as Letter | undefined;
}

export async function decide(action: "replay" | "purge", letters: readonly Letter[]): Promise<Outcome> {
  let done = 0;
  const words: string[] = [];
  for (const { service, id } of letters) {
    try {
      for (const event of await eventsAfter(action, { service, id })) {
        if (event.kind === "purged" || event["isRemoved"] === true) done++;
        if (event.kind === "replayed") words.push(`${id}: ${answerOf(event)}`);
        if (event.kind === "end" && typeof event["stopped"] === "string") words.push(event["stopped"]);
      }
    } catch (error) {
      words.push(`${id}: ${(error as Error).message}`);
    }
  }
  return { done, kept: letters.length - done, words };
}

/** As much of an answer is shown. */
const MAX_ANSWER = 500;

/** What the service answered to a replayed letter, in one line. */
function answerOf({ trouble, answer }: LetterEvent): string {
  if (typeof trouble === "string") return trouble;
  const { code, message, content } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  const text = typeof code === "string" ? `${code}: ${message}` : `answered: ${content ?? ""}`;
  return text.length > MAX_ANSWER ? `${text.slice(0, MAX_ANSWER)}…` : text;
}

async function eventsAfter(
  action: string,
  fields: Record<string, string>,
  signal?: AbortSignal,
): Promise<LetterEvent[]> {
  const response = await ask(`/operator/dlq/${action}?${new URLSearchParams(fields)}`, {
    method: "POST",
    ...(signal && { signal }),
  });
  const events: LetterEvent[] = [];
  for await (const { value } of eventsOf<LetterEvent>(response)) {
    if (value.kind === "refusal") throw new Error(String(value["message"]));
    events.push(value);
  }
  return events;
}
