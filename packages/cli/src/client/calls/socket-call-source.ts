import { CALLS_PATH } from "@rockbot/gateway";
import type { CallRecord } from "@rockbot/records/journal";
import { Agent, request } from "undici";
import { CommandError } from "../../command-error.ts";
import type { CallSource } from "./call-source.ts";

/** The answer of a gateway about one call. */
interface Found {
  readonly call: CallRecord | null;
  readonly inner: readonly CallRecord[];
}

const ANSWER_MS = 10_000;

/** Reads the journals of a running `rockbot up`. */
export function openSocketCallSource(socketPath: string): CallSource {
  const dispatcher = new Agent({ connect: { socketPath, timeout: 2_000 } });

  async function read(path: string): Promise<unknown> {
    const { statusCode, body } = await request(`http://localhost${path}`, {
      dispatcher,
      signal: AbortSignal.timeout(ANSWER_MS),
    }).catch((error: Error) => {
      throw new CommandError(`Cannot read the calls: the running "rockbot up" does not answer (${error.message})`);
    });
    if (statusCode === 200) return body.json();
    await body.dump();
    throw new CommandError(
      'Cannot read the calls: the running "rockbot up" does not know the question. Is it of another version?',
    );
  }

  return {
    where: 'the running "rockbot up"',
    recent: async (limit) => ((await read(`${CALLS_PATH}?limit=${limit}`)) as { readonly calls: CallRecord[] }).calls,
    async find(toolCallId) {
      const { call, inner } = (await read(`${CALLS_PATH}/${encodeURIComponent(toolCallId)}`)) as Found;
      return call === null ? undefined : { call, inner };
    },
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  };
}
