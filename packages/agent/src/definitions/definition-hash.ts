import { createHash } from "node:crypto";
import { canonicalJson } from "@rockbot/contracts";
import { hashedGrant } from "../records/grant.ts";
import type { AgentDefinition } from "../words/agent-definition.ts";

/** The hash of all that decides what a session of the definition does. An approval is of one such hash. */
export function definitionHash(definition: Omit<AgentDefinition, "hash">): string {
  const {
    name,
    description,
    playbook,
    tools,
    model,
    budgets = {},
    destinations = [],
    reportSchema,
    maker,
    isUntrusted,
    grant,
  } = definition;
  const { maxTokens, timeoutMs, maxIterations, maxCost } = budgets;
  const facts = {
    name,
    description,
    playbook,
    tools,
    model,
    maxTokens,
    timeoutMs,
    maxIterations,
    maxCost,
    destinations,
    reportSchema,
    maker,
    isUntrusted,
  };
  return createHash("sha256")
    .update(canonicalJson({ ...facts, grant: hashedGrant(grant) }))
    .digest("hex");
}
