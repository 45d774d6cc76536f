import { useQuery, useQueryClient } from "@tanstack/react-query";
import { askAgent, type Turn, withChunk } from "../../api/chat.ts";

/** Turns that the page keeps in view. */
const MAX_TURNS = 100;

/** One conversation with the agent. It goes on while its operator looks at other pages, and ends at the logout. */
interface Conversation {
  readonly session: string;
  readonly turns: readonly Turn[];
  /** Stops the turn that runs. */
  readonly running?: AbortController | undefined;
}

/** The conversation of an operator as a caller, a turn at a time. */
export function useChat(operator: string, as: string) {
  const cache = useQueryClient();
  const key = ["chat", operator, as];
  const begun = (): Conversation => ({ session: `operator:${operator}:${crypto.randomUUID()}`, turns: [] });
  const { data } = useQuery({
    queryKey: key,
    queryFn: begun,
    initialData: begun,
    staleTime: Infinity,
    gcTime: Infinity,
  });
  const { session, turns, running } = data;

  const say = async (question: string) => {
    const stop = new AbortController();
    const change = (next: (turns: readonly Turn[]) => Partial<Conversation>) => {
      const now = cache.getQueryData<Conversation>(key);
      if (now?.session === session) cache.setQueryData<Conversation>(key, { ...now, ...next(now.turns) });
      else stop.abort(); // somebody has begun anew, or logged out
    };
    const changeLast = (next: (turn: Turn) => Turn) =>
      change((all) => ({ turns: all.map((turn, index) => (index === all.length - 1 ? next(turn) : turn)) }));
    change((all) => ({ turns: [...all.slice(1 - MAX_TURNS), { question, parts: [] }], running: stop }));
    let fault = "The gateway ended the stream before the turn's end.";
    try {
      const onChunk = (chunk: Parameters<typeof withChunk>[1]) => changeLast((turn) => withChunk(turn, chunk));
      await askAgent(question, { as, session, signal: stop.signal, onChunk });
    } catch (error) {
      fault = stop.signal.aborted ? "Stopped: the turn was cancelled." : (error as Error).message;
    }
    changeLast((turn) => (turn.end === undefined ? { ...turn, end: { kind: "error", message: fault } } : turn));
    change(() => ({ running: undefined }));
  };
  const stop = () => running?.abort();
  const beginAnew = () => {
    stop();
    cache.setQueryData<Conversation>(key, begun());
  };
  return { turns, isRunning: running !== undefined, say, stop, beginAnew };
}
