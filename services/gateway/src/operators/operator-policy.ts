import type { PolicyUse } from "@rockbot/console/api";
import { entries, type Policy, type PolicyHolder } from "@rockbot/policy";
import type { OperatorHttpApp } from "./operator.ts";
import { noSuchOperatorPath } from "./operator-routes.ts";
import type { PastCallsParts } from "./what-if/past-calls.ts";
import { createWhatIfApp, WHAT_IF_PATH } from "./what-if/what-if-app.ts";

/** Where an operator asks what the policy in force says. */
export const POLICY_PATH = "/operator/policy";

export interface PolicyAppParts extends PastCallsParts {
  readonly policy: Pick<PolicyHolder, "current">;
}

/** Rows of one answer. */
const MAX_USES = 2_000;

/**
 * `GET /operator/policy` has its revision and the callers that it names. With `caller`, `tool` or both it has also what
 * it says of these uses, and why. `POST /operator/policy/what-if` tries another one.
 */
export function createPolicyApp({ policy, knownTools, journals }: PolicyAppParts): OperatorHttpApp {
  const whatIf = createWhatIfApp(policy, { journals, knownTools });
  return {
    fetch(request, env) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname === WHAT_IF_PATH) return whatIf.fetch(request, env);
      if (request.method !== "GET" || pathname !== POLICY_PATH) return noSuchOperatorPath();
      const current = policy.current();
      const { revision } = current;
      const callers = entries(current.document.callers).map(([name]) => name);
      const [caller, tool] = [searchParams.get("caller"), searchParams.get("tool")];
      if (caller === null && tool === null) return Response.json({ revision, callers });
      const known = new Map(knownTools().map(({ name, dangerous, readOnly }) => [name, { dangerous, readOnly }]));
      const tools = tool === null ? [...known.keys()].sort() : [tool];
      const uses = (caller === null ? [...callers.sort(), EVERYONE_ELSE] : [caller]).flatMap((each) =>
        tools.map((name) => ({ caller: each, tool: name, ...known.get(name) })),
      );
      return Response.json({
        revision,
        callers,
        uses: uses.slice(0, MAX_USES).map((use) => shownUse(current, use)),
        more: Math.max(0, uses.length - MAX_USES),
        ...(uses[0] !== undefined && caller !== null && tool !== null
          ? { explanation: explained(current, uses[0]) }
          : {}),
      });
    },
  };
}

/** No caller can have this name. */
const EVERYONE_ELSE = "";

interface Use {
  readonly caller: string;
  readonly tool: string;
  readonly dangerous?: boolean | undefined;
  readonly readOnly?: boolean | undefined;
}

const explained = ({ explain }: Pick<Policy, "explain">, { caller, tool, dangerous, readOnly }: Use): string[] =>
  explain({ caller, tool, isDangerous: dangerous, isReadOnly: readOnly });

function shownUse(policy: Pick<Policy, "decide" | "explain">, use: Use): PolicyUse {
  const { caller, tool, dangerous, readOnly } = use;
  const { isAllowed, because } = policy.decide({ caller, tool, isDangerous: dangerous, isReadOnly: readOnly });
  const [, , ...bounds] = explained(policy, use); // before these stand the decision and the revision
  return { caller, tool, isAllowed, because, isDangerous: dangerous === true, bounds };
}
