import { parseData } from "@rockbot/contracts";
import type { PublicResponse } from "@rockbot/edge/outbound";
import { createParser } from "eventsource-parser";

/** Streams of values, by media type. */
const STREAMS: Readonly<Record<string, "lines" | "events">> = {
  "application/x-ndjson": "lines",
  "application/ndjson": "lines",
  "application/jsonl": "lines",
  "application/x-jsonlines": "lines",
  "application/stream+json": "lines",
  "application/json-seq": "lines",
  "text/event-stream": "events",
};

export const streamKind = (mediaType: string): "lines" | "events" | undefined =>
  Object.hasOwn(STREAMS, mediaType) ? STREAMS[mediaType] : undefined;

/** Ends a stream by some services' custom. */
const DONE = "[DONE]";

/**
 * Reads a stream of values to its end.
 * @param onValue receives each value as it comes
 * @returns all of them: JSON as values, the rest as text
 */
export async function readStream(
  response: PublicResponse,
  kind: "lines" | "events",
  onValue: (text: string) => void,
): Promise<readonly unknown[]> {
  const values: unknown[] = [];
  const take = (text: string): void => {
    if (text === "" || text === DONE) return;
    const parsed = parseData(text);
    values.push(parsed.ok ? parsed.value : text);
    onValue(text);
  };
  const events = createParser({ onEvent: ({ data }) => take(data) });
  let rest = "";
  const feed = (text: string): void => {
    if (kind === "events") {
      events.feed(text);
      return;
    }
    const lines = (rest + text).split(/[\n\u001e]/);
    rest = lines.pop() ?? "";
    for (const line of lines) take(line.trim());
  };
  const decoder = new TextDecoder();
  const encoding = response.header("content-encoding") ?? "identity";
  if (encoding === "identity" || encoding === "")
    for await (const chunk of response.chunks()) feed(decoder.decode(chunk, { stream: true }));
  else feed(decoder.decode((await response.body()).bytes, { stream: true })); // compressed: all at once
  feed(decoder.decode());
  if (kind === "events") events.feed("\n\n");
  else take(rest.trim());
  return values;
}
