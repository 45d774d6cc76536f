import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { askAgent, type Turn, withChunk } from "../../api/chat.ts";
import { type KeptChat, keepChat, keptChat } from "../../api/kept-chat.ts";

/** Turns that the page keeps in view. */
const MAX_TURNS = 100;
/** The page is being left, which ends its requests: it has kept what there was. */
let isLeaving = false;

/**
 * One conversation with the agent. It goes on while its operator looks at other pages and after a reload, and ends at
 * the logout.
 */
interface Conversation extends KeptChat {
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
    initialData: (): Conversation => keptChat(operator, as) ?? begun(),
    staleTime: Infinity,
    gcTime: Infinity,
  });
  const { session, turns, running } = data;
  const keep = () => {
    const now = cache.getQueryData<Conversation>(key);
    if (now !== undefined) keepChat(operator, as, now);
  };
  useEffect(() => {
    const leave = () => {
      keep();
      isLeaving = true;
    };
    addEventListener("beforeunload", leave);
    return () => removeEventListener("beforeunload", leave);
  });

  const say = async (question: string, robot: string) => {
    const stop = new AbortController();
    const change = (next: (turns: readonly Turn[]) => Partial<Conversation>) => {
      const now = cache.getQueryData<Conversation>(key);
      if (now?.session === session) cache.setQueryData<Conversation>(key, { ...now, ...next(now.turns) });
      else stop.abort(); // somebody has begun anew, or logged out
    };
    const changeLast = (next: (turn: Turn) => Turn) =>
      change((all) => ({ turns: all.map((turn, index) => (index === all.length - 1 ? next(turn) : turn)) }));
    change((all) => ({ turns: [...all.slice(1 - MAX_TURNS), { question, robot, parts: [] }], running: stop }));
    keep();
    let fault = "The gateway ended the stream before the turn's end.";
    try {
      const onChunk = (chunk: Parameters<typeof withChunk>[1]) => changeLast((turn) => withChunk(turn, chunk));
      await askAgent(question, { as, robot, session, signal: stop.signal, onChunk });
    } catch (error) {
      fault = stop.signal.aborted ? "Stopped: the turn was cancelled." : (error as Error).message;
    }
    changeLast((turn) => (turn.end === undefined ? { ...turn, end: { kind: "error", message: fault } } : turn));
    change(() => ({ running: undefined }));
    if (!isLeaving) keep();
  };
  const stop = () => running?.abort();
  const beginAnew = () => {
    stop();
    cache.setQueryData<Conversation>(key, begun());
    keep();
  };
  return { turns, isRunning: running !== undefined, say, stop, beginAnew };
}
