import type { Decision, RateLimit, Use } from "../decision.ts";
import type { PolicyPath } from "../document/document-place.ts";
import type { PolicyRule } from "../generated/policy.ts";
import { findGlob } from "../tool-glob.ts";
import { defineFacet, rateOf } from "./facet.ts";

/** A rule that matches a use, and its place. */
export interface Matching {
  readonly rule: PolicyRule;
  readonly path: PolicyPath;
}

export const rules = defineFacet({
  place: "entries",
  readBy: "decisions",
  schema: {
    type: "array",
    default: [],
    maxItems: 200,
    items: { $ref: "#/definitions/PolicyRule" },
    description: "Every rule that matches applies; of several limits of a kind the strictest holds.",
  },
  definitions: {
    PolicyRule: {
      type: "object",
      additionalProperties: false,
      required: ["tools"],
      properties: {
        tools: { $ref: "#/definitions/PolicyToolGlobs" },
        rate: { $ref: "#/definitions/PolicyRate" },
        concurrency: {
          type: "integer",
          minimum: 1,
          maximum: 10_000,
          description: "How many calls of each tool the caller may have running in one instance of its service.",
        },
        cacheSeconds: {
          type: "integer",
          minimum: 0,
          maximum: 86_400,
          description: "How old a kept answer may be. Shortens what the tool declares, never lengthens it; 0 is never.",
        },
        timeoutMs: { type: "integer", minimum: 1, maximum: 1_200_000, description: "How long a call may take." },
        arguments: {
          type: "object",
          description: "A JSON Schema that the arguments must fit besides the tool's own.",
        },
      },
    },
    PolicyRate: {
      type: "object",
      additionalProperties: false,
      required: ["calls", "perSeconds"],
      description: "How often the caller may call each tool. Unused calls are saved, up to this number.",
      properties: {
        calls: { type: "integer", minimum: 1, maximum: 1_000_000, description: "How many calls." },
        perSeconds: { type: "number", exclusiveMinimum: 0, maximum: 86_400, description: "In which time." },
      },
    },
  },
  docs: [
    {
      property: "rate",
      holds:
        "at the service, when a call is let through: together in Redis where `REDIS_URL` is set, else by each instance, and by each while Redis is away. Unused calls are saved, up to the number.",
      beyond: "`rate_limited` with `retryAfterMs`",
    },
    {
      property: "concurrency",
      holds:
        "calls that run at once in one instance; those that wait hold one of its handlers, twice its concurrency, and have their turns in rotation by caller, until their deadline",
      beyond: "`overloaded` with `retryAfterMs`",
    },
    { property: "timeoutMs", holds: "from the call's receipt", beyond: "`timeout`" },
    {
      property: "cacheSeconds",
      holds: "how old a kept answer may be; shortens what the tool declares, and 0 is never",
      beyond: "the tool runs",
    },
    {
      property: "arguments",
      holds: "a JSON Schema besides the tool's own; its patterns are RE2's",
      beyond: "`denied` with all faults",
    },
  ],
  example: [{ tools: ["web_*"], rate: { calls: 60, perSeconds: 60 }, concurrency: 4 }],
  read({ document: { everyone }, callers, argumentRules }) {
    const matching = (of: readonly PolicyRule[] = [], path: PolicyPath, tool: string): Matching[] =>
      of.flatMap((rule, i) =>
        findGlob(rule.tools, tool) === undefined ? [] : [{ rule, path: [...path, "rules", i] }],
      );
    const rulesFor = ({ caller, tool }: Use): readonly Matching[] => [
      ...matching(everyone.rules, ["everyone"], tool),
      ...matching(callers.get(caller)?.rules, ["callers", caller], tool),
    ];
    return {
      rulesFor,
      /** What all rules that match allow together. */
      ruledFor(use: Use): Pick<Decision, "rates" | "concurrency" | "cacheSeconds" | "timeoutMs" | "argumentRules"> {
        const rules = rulesFor(use).map(({ rule }) => rule);
        const rates = rules.flatMap(({ rate }) =>
          rate === undefined ? [] : [rateOf(use.caller, use.tool, rate.calls, rate.perSeconds * 1_000)],
        );
        return {
          rates: [...new Map(rates.map((rate): [string, RateLimit] => [rate.key, rate])).values()],
          concurrency: least(rules.map(({ concurrency }) => concurrency)),
          cacheSeconds: least(rules.map(({ cacheSeconds }) => cacheSeconds)),
          timeoutMs: least(rules.map(({ timeoutMs }) => timeoutMs)),
          argumentRules: rules.flatMap((rule) => argumentRules.get(rule) ?? []),
        };
      },
    };
  },
  explain: ({ rulesFor }, use, at) =>
    rulesFor(use).flatMap(({ rule, path }) => describeRule(rule).map((words) => `${words}: ${at(path)}`)),
});

function describeRule({ rate, concurrency, cacheSeconds, timeoutMs, arguments: schema }: PolicyRule): string[] {
  return [
    ...(rate === undefined ? [] : [`at most ${rate.calls} calls in ${rate.perSeconds} s`]),
    ...(concurrency === undefined ? [] : [`at most ${concurrency} calls at once, in one instance of a service`]),
    ...(cacheSeconds === undefined
      ? []
      : [cacheSeconds === 0 ? "never a kept answer" : `no kept answer older than ${cacheSeconds} s`]),
    ...(timeoutMs === undefined ? [] : [`at most ${timeoutMs} ms a call`]),
    ...(schema === undefined ? [] : ["only arguments that fit a schema"]),
  ];
}

function least(numbers: readonly (number | undefined)[]): number | undefined {
  const set = numbers.filter((number) => number !== undefined);
  return set.length === 0 ? undefined : Math.min(...set);
}
