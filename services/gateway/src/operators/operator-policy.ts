import type { PolicyHolder } from "@rockbot/policy";
import type { ToolRegistry } from "@rockbot/tools";
import type { HttpApp } from "../http/http-server.ts";
import { noSuchOperatorPath } from "./operator-routes.ts";

/** Where an operator asks what the policy in force says. */
export const POLICY_PATH = "/operator/policy";

/**
 * `GET /operator/policy` has its revision, `GET /operator/policy?caller=C&tool=T` also what it says of that use, and
 * why.
 * @param tools know which ones are dangerous
 */
export function createPolicyApp(policy: Pick<PolicyHolder, "current">, tools: Pick<ToolRegistry, "get">): HttpApp {
  return {
    fetch({ url, method }) {
      const { pathname, searchParams } = new URL(url);
      if (method !== "GET" || pathname !== POLICY_PATH) return noSuchOperatorPath();
      const { revision, explain } = policy.current();
      const [caller, tool] = [searchParams.get("caller"), searchParams.get("tool")];
      return Response.json({
        revision,
        ...(caller === null || tool === null
          ? {}
          : {
              explanation: explain({
                caller,
                tool,
                isDangerous: tools.get(tool)?.dangerous,
                isReadOnly: tools.get(tool)?.readOnly,
              }),
            }),
      });
    },
  };
}
