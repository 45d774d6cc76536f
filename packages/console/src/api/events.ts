import { EventSourceParserStream } from "eventsource-parser/stream";

/** The server-sent events of an answer, as they come; the values are JSON. */
export async function* eventsOf<T>(response: Response): AsyncGenerator<{ readonly event: string; readonly value: T }> {
  if (response.body === null) return;
  const events = response.body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  const reader = events.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read())
    yield { event: next.value.event ?? "message", value: JSON.parse(next.value.data) as T };
}
