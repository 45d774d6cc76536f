import { type DlqEvent, dlqFields } from "@rockbot/gateway/dlq";
import { Agent, request as send } from "undici";
import { CommandError } from "../../command-error.ts";
import { readEvents } from "../read-events.ts";
import type { DlqClient } from "./dlq-client.ts";

const CONNECT_MS = 2_000;
/** The other side sends a comment every 10 seconds: a longer silence means that it hangs. */
const SILENCE_MS = 30_000;

/** Looks at the parked messages of a running `rockbot up`, through its socket. */
export function openSocketDlqClient(socketPath: string): DlqClient {
  const dispatcher = new Agent({
    connect: { socketPath, timeout: CONNECT_MS },
    headersTimeout: SILENCE_MS,
    bodyTimeout: SILENCE_MS,
  });
  return {
    where: 'the running "rockbot up"',
    async run(request, emit, signal) {
      const fields = Object.entries(dlqFields(request)).filter(([, value]) => value !== undefined);
      const url = `http://localhost/operator/dlq/${request.action}?${new URLSearchParams(fields)}`;
      let isComplete = false;
      try {
        const { statusCode, body } = await send(url, { dispatcher, method: "POST", signal });
        if (statusCode !== 200)
          throw new CommandError('The running "rockbot up" has no parked messages to show. Is it of another version?');
        for await (const { data } of readEvents(body)) {
          const event = JSON.parse(data) as DlqEvent;
          isComplete = event.kind === "end" || event.kind === "refusal";
          await emit(event);
        }
      } catch (error) {
        if (signal.aborted || error instanceof CommandError) throw error;
        throw broken((error as { code?: string }).code);
      }
      if (!isComplete) throw broken("it ended early");
    },
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  };
}

const broken = (why = "unknown error"): CommandError =>
  new CommandError(
    `The connection to the running "rockbot up" broke (${why}). Messages that were not reported as removed are still parked while it runs`,
  );
