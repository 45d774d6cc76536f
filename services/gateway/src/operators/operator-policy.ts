import type { PolicyHolder } from "@rockbot/policy";
import type { OperatorHttpApp } from "./operator.ts";
import { noSuchOperatorPath } from "./operator-routes.ts";
import type { PastCallsParts } from "./what-if/past-calls.ts";
import { createWhatIfApp, WHAT_IF_PATH } from "./what-if/what-if-app.ts";

/** Where an operator asks what the policy in force says. */
export const POLICY_PATH = "/operator/policy";

export interface PolicyAppParts extends PastCallsParts {
  readonly policy: Pick<PolicyHolder, "current">;
}

/**
 * `GET /operator/policy` has its revision, `GET /operator/policy?caller=C&tool=T` also what it says of that use, and
 * why. `POST /operator/policy/what-if` tries another one.
 */
export function createPolicyApp({ policy, tools, journals }: PolicyAppParts): OperatorHttpApp {
  const whatIf = createWhatIfApp(policy, { journals, tools });
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
