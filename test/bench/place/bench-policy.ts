import { MAX_CALLS_OUT } from "../contender.ts";

/** A part of a deployed system that can be left out, to see what it costs. */
export const parts = ["audit", "journal", "claims", "export"] as const;
export type Part = (typeof parts)[number];

/** The names of a deployed contender, which are also those of its users at the broker. */
export const deployedNames = (without?: Part) => ({
  agent: without === undefined ? "bench-agent" : `bench-agent-no-${without}`,
  service: without === undefined ? "bench-deployed" : `bench-deployed-no-${without}`,
  tool: without === undefined ? "bench_deployed" : `bench_deployed_no_${without}`,
});

const all = [undefined, ...parts].map(deployedNames);

/**
 * As docker/policy/policy.yaml has it: each process has a user of the broker. One agent may have as many calls out as
 * the bench has at most.
 */
export const benchPolicyText = `
identity: verified
services:
${all.map(({ service, tool }) => `  ${service}: { topic: tool.invoke.${service}, tools: [${tool}] }`).join("\n")}
callers:
${all.map(({ agent, tool }) => `  ${agent}: { allow: [${tool}], limits: { inFlight: ${MAX_CALLS_OUT} } }`).join("\n")}
`;
