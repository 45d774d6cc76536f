import type { PolicyHolder } from "@rockbot/policy";
import { MAX_CALLS } from "@rockbot/records/journal";
import type { ToolCaller, ToolRegistry } from "@rockbot/tools";
import type { HttpApp } from "../http/http-server.ts";
import { noSuchOperatorPath } from "./operator-routes.ts";
import { pastCall } from "./what-if/past-call.ts";
import { createWhatIfApp, WHAT_IF_PATH } from "./what-if/what-if-app.ts";

/** Where an operator asks what the policy in force says. */
export const POLICY_PATH = "/operator/policy";

export interface PolicyAppParts {
  readonly policy: Pick<PolicyHolder, "current">;
  /** They know which ones are dangerous. */
  readonly tools: Pick<ToolRegistry, "get">;
  /** The journals of all callers whose calls another policy may be tried with. */
  readonly journals: () => readonly ToolCaller["journal"][];
}

/**
 * `GET /operator/policy` has its revision, `GET /operator/policy?caller=C&tool=T` also what it says of that use, and
 * why. `POST /operator/policy/what-if` tries another one.
 */
export function createPolicyApp({ policy, tools, journals }: PolicyAppParts): HttpApp {
  const whatIf = createWhatIfApp(policy, async () => {
    const records = await Promise.all(journals().map((journal) => journal.recent(MAX_CALLS)));
    return records.flat().map((record) => pastCall(record, tools.get(record.toolName)));
  });
  return {
    fetch(request, env) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === WHAT_IF_PATH) return whatIf.fetch(request, env);
      if (request.method !== "GET" || pathname !== POLICY_PATH) return noSuchOperatorPath();
      const { revision, explain } = policy.current();
      const [caller, tool] = [searchParams.get("caller"), searchParams.get("tool")];
      if (caller === null || tool === null) return Response.json({ revision });
      const { dangerous, readOnly } = tools.get(tool) ?? {};
      const explanation = explain({ caller, tool, isDangerous: dangerous, isReadOnly: readOnly });
      return Response.json({ revision, explanation });
    },
  };
}
