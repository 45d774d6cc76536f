import { tools } from "@rockbot/contracts";
import type { Decision } from "./decision.ts";
import { entries } from "./document/document-place.ts";
import type { Policy } from "./policy.ts";

/**
 * A Markdown table of the tools that each caller may use, and how often. It has a row for each caller that the policy
 * names, and one for all others. It has a column for each tool that a service may serve.
 */
export function policyTable(policy: Policy): string {
  const columns = Object.values(served);
  const named = entries(policy.document.callers).map(([name]) => name);
  const rows = [
    ...named.sort().map((name) => ({ name: `\`${name}\``, caller: name })),
    { name: "everyone else", caller: NOBODY },
  ];
  return [
    `| caller | ${columns.map(({ name }) => `\`${name}\``).join(" | ")} | over all tools |`,
    `|---|${columns.map(() => "---|").join("")}---|`,
    ...rows.map(({ name, caller }) => {
      const decisions = columns.map((tool) => policy.decide({ caller, tool: tool.name, isDangerous: tool.dangerous }));
      return `| ${name} | ${decisions.map(cell).join(" | ")} | ${overall(policy.decide({ caller, tool: "any" }))} |`;
    }),
    "",
  ].join("\n");
}

const { getToolGuide: _, listToolGuides: __, ...served } = tools;

/** No caller can have this name. */
const NOBODY = "";

function cell(decision: Decision): string {
  const { isAllowed, rates, concurrency, cacheSeconds, timeoutMs, argumentRules, approvals, queue } = decision;
  if (!isAllowed) return "no";
  const limits = [
    ...rates.filter(({ scope }) => scope === "tool").map(({ amount, perMs }) => `${amount} in ${perMs / 1_000} s`),
    ...(concurrency === undefined ? [] : [`${concurrency} at once`]),
    ...(queue === undefined ? [] : [`queue ${queue.name}`]),
    ...(cacheSeconds === undefined ? [] : [cacheSeconds === 0 ? "always fresh" : `at most ${cacheSeconds} s old`]),
    ...(timeoutMs === undefined ? [] : [`${timeoutMs} ms`]),
    ...(argumentRules.length === 0 ? [] : ["some arguments only"]),
    ...(approvals.length === 0 ? [] : ["after approval"]),
  ];
  return limits.length === 0 ? "yes" : `yes: ${limits.join(", ")}`;
}

function overall({ rates, bytes, scriptSeconds, inFlight, depth }: Decision): string {
  return [
    ...rates.filter(({ scope }) => scope === "caller").map(({ amount, perMs }) => `${amount} in ${perMs / 1_000} s`),
    ...(bytes === undefined ? [] : [`${bytes.amount} bytes a day`]),
    ...(scriptSeconds === undefined ? [] : [`scripts ${scriptSeconds.amount} s an hour`]),
    `${inFlight} at once`,
    `depth ${depth}`,
  ].join(", ");
}
