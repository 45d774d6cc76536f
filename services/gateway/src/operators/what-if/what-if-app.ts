import type { WhatIf } from "@rockbot/console/api";
import type { PolicyHolder } from "@rockbot/policy";
import type { OperatorHttpApp } from "../operator.ts";
import { noSuchOperatorPath } from "../operator-routes.ts";
import { type PastCall, type PastCallsParts, pastCalls } from "./past-calls.ts";
import { tryPolicy } from "./try-policy.ts";

/** Where an operator tries another policy against the calls that were made. */
export const WHAT_IF_PATH = "/operator/policy/what-if";

const MAX_ROWS = 500;
const MAX_POLICY_BYTES = 1024 * 1024;

/**
 * `POST /operator/policy/what-if` with the text of a policy says which of the newest calls it would judge otherwise than
 * the policy in force. Nothing changes by it. One trial runs at a time.
 */
export function createWhatIfApp(policy: Pick<PolicyHolder, "current">, parts: PastCallsParts): OperatorHttpApp {
  let isBusy = false;
  return {
    async fetch(request, env) {
      if (request.method !== "POST" || new URL(request.url).pathname !== WHAT_IF_PATH) return noSuchOperatorPath();
      const proposed = await request.text();
      if (Buffer.byteLength(proposed) > MAX_POLICY_BYTES)
        return refused(413, `it has more than ${MAX_POLICY_BYTES} bytes`);
      if (isBusy) return refused(429, "another trial is running. Try it again in a few seconds");
      isBusy = true;
      try {
        return await answer(policy.current(), proposed, await pastCalls(parts, env));
      } finally {
        isBusy = false;
      }
    },
  };
}

async function answer(
  { document, revision }: ReturnType<PolicyHolder["current"]>,
  proposed: string,
  calls: readonly PastCall[],
): Promise<Response> {
  const outcome = await tryPolicy({ inForce: JSON.stringify(document), proposed, calls });
  if ("fault" in outcome) return Response.json({ message: outcome.fault }, { status: 400 });
  const { rows, notes } = outcome;
  const times = calls.map(({ at }) => at);
  return Response.json({
    inForce: revision,
    proposed: outcome.revision,
    notes,
    calls: calls.length,
    since: times.length === 0 ? null : Math.min(...times),
    rows: rows.slice(0, MAX_ROWS),
    more: Math.max(0, rows.length - MAX_ROWS),
  } satisfies WhatIf);
}

const refused = (status: number, why: string): Response =>
  Response.json({ message: `Cannot try the policy: ${why}` }, { status });
