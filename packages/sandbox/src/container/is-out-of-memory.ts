import type { EngineApi } from "./engine-api.ts";

/** What a process gets from the kernel that takes its memory back. */
const KILLED = "137";

/** How long the engine's word of used up memory may come after its word of the end, which it hears another way. */
const LATE_SECONDS = 1;

/**
 * Tells whether a container that has just ended had used up its memory. The engine keeps the last 256 things that
 * happened, and a container that removes itself cannot be asked any more.
 * @param since when it was made, in seconds since 1970
 * @throws as `EngineApi.call`
 */
export async function isOutOfMemory(
  api: EngineApi,
  container: string,
  since: number,
  signal: AbortSignal,
): Promise<boolean> {
  const query = {
    since: String(since),
    until: String(Math.ceil(Date.now() / 1000) + LATE_SECONDS),
    filters: JSON.stringify({ container: [container], event: ["oom", "die"] }),
  };
  for await (const event of api.report({ method: "GET", path: "/events", query, signal })) {
    const { Action: action, Actor: actor } = event as {
      readonly Action?: string;
      readonly Actor?: { readonly Attributes?: Record<string, string> };
    };
    if (action === "oom") return true;
    if (action === "die" && actor?.Attributes?.["exitCode"] !== KILLED) return false;
  }
  return false;
}
