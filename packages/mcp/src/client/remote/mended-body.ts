import { isRecord } from "@rockbot/base";
import { mendAnswers, noAnswer } from "../incoming/mend-answers.ts";

/** The bytes between two events. */
const EVENT_END = /\r\n\r\n|\n\n|\r\r/g;

const MIN_RETRY_MS = 100;
const MAX_RETRY_MS = 60_000;

type AskedId = () => unknown;

/**
 * A body of JSON as the SDK takes it: see mendAnswers.
 * @param asked the id of the request that it has to answer; one that does not is an answer that says so
 */
export function mendedJson(text: string, askedId: AskedId, asked?: string | number): string {
  const mended = mendAnswers(text, askedId);
  const isNone =
    asked !== undefined &&
    (mended === undefined ? text.trim() === "" : !mended.messages.some((message) => isAnswerTo(message, asked)));
  return isNone ? JSON.stringify(noAnswer(asked)) : (mended?.text ?? text);
}

/**
 * How long to wait before a stream that has ended is opened again, within bounds: a server could else have us ask
 * without a pause.
 */
function pacedLine(line: string): string {
  const asked = /^retry: ?(\d+)$/.exec(line)?.[1];
  return asked === undefined ? line : `retry: ${Math.min(Math.max(Number(asked), MIN_RETRY_MS), MAX_RETRY_MS)}`;
}

const isAnswerTo = (message: unknown, asked: string | number): boolean =>
  isRecord(message) && !("method" in message) && message["id"] === asked;

/** A stream of events whose data are messages, event by event. */
export function mendedEvents(askedId: AskedId): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  let pending = "";
  return new TransformStream({
    transform(chunk, controller) {
      const from = Math.max(0, pending.length - 3);
      pending += decoder.decode(chunk, { stream: true });
      let at = 0;
      EVENT_END.lastIndex = from;
      for (let found = EVENT_END.exec(pending); found !== null; found = EVENT_END.exec(pending)) {
        const end = found.index + found[0].length;
        controller.enqueue(Buffer.from(mendEvent(pending.slice(at, found.index), askedId) + found[0]));
        at = end;
      }
      pending = pending.slice(at);
    },
    flush(controller) {
      if (pending !== "") controller.enqueue(Buffer.from(pending));
    },
  });
}

function mendEvent(event: string, askedId: AskedId): string {
  const lines = event.split(/\r\n|\n|\r/);
  const paced = lines.map(pacedLine);
  if (paced.some((line, index) => line !== lines[index])) return mendEvent(paced.join("\n"), askedId);
  const isData = (line: string): boolean => line.startsWith("data:");
  const data = lines.filter(isData).map((line) => line.slice("data:".length).replace(/^ /, ""));
  const text = data.join("\n");
  const mended = data.length === 0 ? text : (mendAnswers(text, askedId)?.text ?? text);
  return mended === text
    ? event
    : [...lines.filter((line) => !isData(line)), ...mended.split("\n").map((line) => `data: ${line}`)].join("\n");
}
