import { MAX_CALLS_OUT } from "../contender.ts";

export const DEPLOYED_AGENT = "bench-agent";
export const DEPLOYED_SERVICE = "bench-deployed";
export const DEPLOYED_TOOL = "bench_deployed";

/**
 * As docker/policy/policy.yaml has it: each process has a user of the broker. One agent may have as many calls out as
 * the bench has at most.
 */
export const benchPolicyText = `
identity: verified
services:
  ${DEPLOYED_SERVICE}: { topic: tool.invoke.${DEPLOYED_SERVICE}, tools: [${DEPLOYED_TOOL}] }
callers:
  ${DEPLOYED_AGENT}: { allow: [${DEPLOYED_TOOL}], limits: { inFlight: ${MAX_CALLS_OUT} } }
`;
