import type { ToolErrorMessage } from "@rockbot/contracts";
import { Agent, type Dispatcher, request } from "undici";
import { CommandError } from "../../command-error.ts";
import type { OwnCall, OwnCalls } from "./own-calls.ts";

const ANSWER_MS = 10_000;

/** The user's calls in a running `rockbot up`. */
export function openSocketOwnCalls(socketPath: string): OwnCalls {
  const dispatcher = new Agent({ connect: { socketPath, timeout: 2_000 } });

  const send = (method: Dispatcher.HttpMethod, toolCallId: string): Promise<Dispatcher.ResponseData> =>
    request(`http://localhost/v1/calls/${encodeURIComponent(toolCallId)}`, {
      dispatcher,
      method,
      signal: AbortSignal.timeout(ANSWER_MS),
    }).catch((error: Error) => {
      throw new CommandError(`Cannot reach the call: the running "rockbot up" does not answer (${error.message})`);
    });

  return {
    where: 'the running "rockbot up"',
    async find(toolCallId) {
      const { statusCode, body } = await send("GET", toolCallId);
      if (statusCode === 200) return (await body.json()) as OwnCall;
      if (statusCode !== 404) throw await refusal(body);
      await body.dump();
      return undefined;
    },
    async cancel(toolCallId) {
      const { statusCode, body } = await send("DELETE", toolCallId);
      if (statusCode !== 204) throw await refusal(body);
      await body.dump();
    },
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  };
}

async function refusal(body: Dispatcher.ResponseData["body"]): Promise<CommandError> {
  const { message } = ((await body.json().catch(() => undefined)) ?? {}) as Partial<ToolErrorMessage>;
  return new CommandError(
    message ?? 'The running "rockbot up" gave an answer that cannot be read. Is it of another version?',
  );
}
