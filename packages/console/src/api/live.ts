import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { eventsOf } from "./events.ts";
import { overview } from "./queries.ts";
import { ask } from "./session.ts";
import type { Overview } from "./types.ts";

/** The state of the stream: the overview comes as it changes, or is asked for again and again. */
export type Live = "starting" | "live" | "broken";

/** The gateway says something more often: a stream that is silent for so long is dead. */
const SILENT_MS = 15_000;
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 5_000;

/** Keeps the overview as the gateway's stream has it, and connects again whenever that ends. */
export function useLive(): Live {
  const cache = useQueryClient();
  const [live, setLive] = useState<Live>("starting");
  useEffect(() => {
    const stop = new AbortController();
    void follow(cache, setLive, stop.signal);
    return () => stop.abort();
  }, [cache]);
  return live;
}

async function follow(cache: QueryClient, say: (live: Live) => void, signal: AbortSignal): Promise<void> {
  for (let failures = 0; !signal.aborted; failures++) {
    const attempt = new AbortController();
    const silence = { timer: setTimeout(() => attempt.abort(), SILENT_MS) };
    try {
      const response = await ask("/operator/stream", { signal: AbortSignal.any([signal, attempt.signal]) });
      for await (const { value } of eventsOf<Overview>(response)) {
        clearTimeout(silence.timer);
        silence.timer = setTimeout(() => attempt.abort(), SILENT_MS);
        failures = 0;
        say("live");
        cache.setQueryData(overview.queryKey, value);
      }
    } catch {
      // The question that follows says why.
    } finally {
      clearTimeout(silence.timer);
    }
    if (signal.aborted) return;
    say("broken");
    void cache.invalidateQueries({ queryKey: overview.queryKey });
    await pause(Math.min(RETRY_MS * 2 ** failures, MAX_RETRY_MS), signal);
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
