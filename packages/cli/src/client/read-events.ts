/** One Server-Sent Event. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** A result is at most 8 MiB, its JSON text somewhat more. */
const MAX_EVENT_CHARS = 32 * 1024 * 1024;

/**
 * The events in a body, as they come. Comments and fields other than `event` and `data` are passed over.
 * @throws {RangeError} if an event is too large
 */
export async function* readEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let chars = 0;
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true });
    chars += text.length;
    if (chars > MAX_EVENT_CHARS)
      throw new RangeError(`Cannot read an event of more than ${MAX_EVENT_CHARS} characters`);
    parts.push(text);
    // Joined only when an event may be complete: a large one comes in many chunks.
    if (!text.includes("\n")) continue;
    const blocks = parts.join("").split("\n\n");
    const rest = blocks.pop() ?? "";
    parts = [rest];
    chars = rest.length;
    for (const block of blocks) {
      const event = parseBlock(block);
      if (event !== undefined) yield event;
    }
  }
}

function parseBlock(block: string): ServerEvent | undefined {
  let event = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) event = line.slice(7);
    else if (line.startsWith("data: ")) data.push(line.slice(6));
  }
  return data.length === 0 ? undefined : { event, data: data.join("\n") };
}
