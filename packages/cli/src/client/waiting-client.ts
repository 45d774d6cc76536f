import type { WaitingAnswer, WaitingCall, WaitingCalls, WaitingDecided, WaitingDecision } from "@rockbot/console/api";
import { WAITING_PATH } from "@rockbot/gateway";
import { Agent, request } from "undici";
import { CommandError } from "../command-error.ts";
import { liveSocket, NOT_RUNNING } from "../runtime/own-socket.ts";

/** Reads the calls that wait for people in the running `rockbot up`, and decides. All methods throw CommandError in words. */
export interface WaitingClient extends AsyncDisposable {
  list(): Promise<WaitingCalls>;
  show(id: string): Promise<WaitingCall>;
  decide(id: string, decision: WaitingDecision): Promise<WaitingDecided>;
  answer(id: string, answer: WaitingAnswer): Promise<WaitingDecided>;
}

const ANSWER_MS = 10_000;

/** @throws {CommandError} if none runs */
export async function openWaitingClient(env: Readonly<Record<string, string | undefined>>): Promise<WaitingClient> {
  const socketPath = await liveSocket(env);
  if (socketPath === undefined)
    throw new CommandError(
      `Cannot show what waits: ${NOT_RUNNING}. Elsewhere operators read and decide by their tokens, at ${WAITING_PATH} of the gateway`,
    );
  const dispatcher = new Agent({ connect: { socketPath, timeout: 2_000 } });

  /** GET, or POST if there is something to be sent. */
  async function ask(path: string, decision?: WaitingDecision | WaitingAnswer): Promise<unknown> {
    const { statusCode, body } = await request(`http://localhost${path}`, {
      ...(decision === undefined ? { method: "GET" } : { method: "POST", body: JSON.stringify(decision) }),
      dispatcher,
      signal: AbortSignal.timeout(ANSWER_MS),
    }).catch((error: Error) => {
      throw new CommandError(`Cannot ask what waits: the running "rockbot up" does not answer (${error.message})`);
    });
    const answer = (await body.json().catch(() => undefined)) as { readonly message?: string } | undefined;
    if (statusCode === 200 && answer !== undefined) return answer;
    throw new CommandError(
      answer?.message?.includes("no such path")
        ? 'The running "rockbot up" has no gateway, which knows what waits: start it without --only, or with gateway in it'
        : (answer?.message ?? `The running "rockbot up" answers with status ${statusCode}`),
    );
  }

  return {
    list: async () => (await ask(WAITING_PATH)) as WaitingCalls,
    show: async (id) => (await ask(`${WAITING_PATH}/${encodeURIComponent(id)}`)) as WaitingCall,
    decide: async (id, decision) =>
      (await ask(`${WAITING_PATH}/${encodeURIComponent(id)}`, decision)) as WaitingDecided,
    answer: async (id, answer) =>
      (await ask(`${WAITING_PATH}/${encodeURIComponent(id)}/answer`, answer)) as WaitingDecided,
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  };
}
