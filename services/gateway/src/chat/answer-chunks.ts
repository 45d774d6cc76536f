import type { AgentEvent, ToolInvokeResponse } from "@rockbot/contracts";
import { readOutput } from "@rockbot/contracts";
import { KEEP_ALIVE } from "@rockbot/edge/inbound";
import { lastVersion } from "../sessions/last-version.ts";
import type { SessionListener } from "../sessions/session-listener.ts";
import { AGAIN, AnswerText } from "./answer-text.ts";
import type { ChunkWriter } from "./completion.ts";

export interface AnswerChunksOptions {
  readonly turnId: string;
  readonly result: Promise<ToolInvokeResponse>;
  readonly listener: SessionListener;
  /** What the session's log has of before the stream began. */
  readonly known: readonly AgentEvent[];
  /** The client has what came up to this sequence. */
  readonly after: number;
  readonly keepAliveMs: number;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
  /** The text of the event that says why the turn failed. */
  readonly failure: (error: unknown) => string;
}

/** Events of a turn may come behind its answer, by another way. The stream waits so long for its last one. */
const REST_MS = 250;

/** The events of a stream: what the model writes, each step of the turn, and its end. */
export async function* answerChunks(writer: ChunkWriter, options: AnswerChunksOptions): AsyncGenerator<Uint8Array> {
  const { turnId, result, listener, known, after, keepAliveMs, signal } = options;
  const answer = new AnswerText();
  let isFinished = false;
  const written = (events: readonly AgentEvent[]): string => {
    const own = events.filter((event) => event.turnId === turnId);
    isFinished ||= own.some(({ kind }) => kind === "turn_finished");
    answer.read(own.filter(({ sequence }) => sequence <= after));
    return merged(lastVersion(own.filter(({ sequence }) => sequence > after)))
      .map(chunkOf)
      .join("");
  };
  const chunkOf = (event: AgentEvent): string => {
    const beginsAgain = event.dropsText === true && answer.isBegun;
    answer.read([event]);
    if (event.kind === "text") return writer.text(event.text ?? "", event.sequence);
    return event.kind === "turn_finished" ? "" : writer.step(event, beginsAgain ? `\n\n${AGAIN}\n\n` : undefined);
  };
  const settled = new AbortController();
  const settle = () => settled.abort();
  result.then(settle, settle);
  const ends = AbortSignal.any([signal, settled.signal]);

  yield Buffer.from(`${writer.role()}${written(known)}`);
  while (!ends.aborted) {
    await listener.wait(keepAliveMs, ends);
    yield Buffer.from(written(await listener.take()) || (ends.aborted ? "" : KEEP_ALIVE));
  }
  if (signal.aborted) return;
  try {
    const { output, isUntrusted } = readOutput(await result);
    for (const until = performance.now() + REST_MS; ; ) {
      yield Buffer.from(written(await listener.take()));
      const leftMs = until - performance.now();
      if (isFinished || leftMs <= 0 || signal.aborted) break;
      await listener.wait(leftMs, signal);
    }
    if (!isFinished) yield Buffer.from(written(await listener.readOn().catch(() => [])));
    const rest = answer.rest(output.text);
    yield Buffer.from(`${rest === "" ? "" : writer.text(rest)}${writer.end(output, isUntrusted)}`);
  } catch (error) {
    yield Buffer.from(options.failure(error));
  }
}

/** Texts that came together are one. For the progress of a call the latest is enough. */
function merged(events: readonly AgentEvent[]): AgentEvent[] {
  const result: AgentEvent[] = [];
  for (const event of events) {
    const before = result.at(-1);
    if (event.kind === "text" && before?.kind === "text")
      result[result.length - 1] = { ...event, text: `${before.text ?? ""}${event.text ?? ""}` };
    else if (
      event.kind === "tool_progress" &&
      before?.kind === "tool_progress" &&
      before.toolCallId === event.toolCallId
    )
      result[result.length - 1] = event;
    else result.push(event);
  }
  return result;
}
