import { ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import type { RateStore } from "@rockbot/records/rates";
import type { ToolContext } from "@rockbot/tools";

/** Seconds that a script may use up. */
export interface ScriptSeconds {
  /** Gives back what it has not used, once. Never rejects, and nobody waits for it. */
  giveBack(seconds: number): void;
}

const unlimited: ScriptSeconds = { giveBack() {} };

/**
 * Takes all that a script may use before it starts, so that scripts that run at the same time cannot use more together
 * than their caller has. A script that may have begun has paid already.
 * @throws {ToolError} `rate_limited`, with when to come back
 */
export async function takeScriptSeconds(
  rates: RateStore,
  seconds: number,
  { decision, caller, mayHaveBegun = false, log }: Pick<ToolContext, "decision" | "caller" | "mayHaveBegun" | "log">,
): Promise<ScriptSeconds> {
  const limit = decision?.scriptSeconds;
  if (limit === undefined) return unlimited;
  const cost = Math.min(limit.amount, seconds); // more than the bucket holds would never be let through
  const shortage = mayHaveBegun ? undefined : await rates.take([{ ...limit, cost }]);
  if (shortage !== undefined) {
    throw new ToolError(
      ToolErrorCode.RateLimited,
      `"${tools.executePythonScript.name}" was not run: of its ${limit.amount} script seconds an hour, "${caller}" has not the ${seconds} left that this script may use. Try again in ${Math.ceil(shortage.retryAfterMs / 1_000)} s, or with a shorter timeout_seconds.`,
      { retryAfterMs: shortage.retryAfterMs, details: { reason: "script_seconds", revision: decision?.revision } },
    );
  }
  return {
    giveBack(unused) {
      const back = Math.min(cost, Math.max(0, unused));
      if (back === 0) return;
      rates
        .charge({ ...limit, cost: -back })
        .catch((error: unknown) => log.warn({ error: String(error) }, "could not give back unused script seconds"));
    },
  };
}
