import type { ApprovalRule, Use } from "../decision.ts";
import { findGlob } from "../tool-glob.ts";
import { defineFacet, HOUR_MS } from "./facet.ts";

const NONE: readonly ApprovalRule[] = Object.freeze([]);

export const approve = defineFacet({
  place: "file",
  readBy: "decisions",
  schema: {
    type: "array",
    default: [],
    maxItems: 200,
    items: { $ref: "#/definitions/PolicyApprovalRule" },
    description:
      "Calls that operators approve before they run. Every rule that matches must be fulfilled. A rule allows nothing that is denied.",
  },
  definitions: {
    PolicyApprovalRule: {
      type: "object",
      additionalProperties: false,
      required: ["tools", "by"],
      properties: {
        tools: { $ref: "#/definitions/PolicyToolGlobs" },
        callers: {
          type: "array",
          default: ["*"],
          maxItems: 200,
          items: { type: "string", pattern: "^[a-z0-9*-]{1,64}$" },
          description: "Names of effective callers; * stands for any characters. All when left out.",
        },
        arguments: {
          type: "object",
          description:
            "A JSON Schema. The rule asks only for calls whose arguments fit it, or for all calls when left out.",
        },
        by: {
          type: "array",
          minItems: 1,
          maxItems: 100,
          uniqueItems: true,
          items: { type: "string", pattern: "^[a-z0-9][a-z0-9-]{0,38}$" },
          description: "Names of operators who may decide. Each has an entry in `operators` with the right `decide`.",
        },
        needed: {
          type: "integer",
          minimum: 1,
          maximum: 10,
          default: 1,
          description: "How many of these operators must approve.",
        },
        hours: { type: "number", minimum: 0.01, maximum: 168, default: 24, description: "How long a call waits." },
      },
    },
  },
  docs: [
    {
      holds:
        "calls of `tools` by `callers` that `needed` of the operators in `by` must approve first, within `hours`. With `arguments`, a JSON Schema, only calls whose arguments fit it. All rules that match must be fulfilled. A tool of the caller's own process cannot wait, and is `denied`",
      beyond: "the tool does not run",
    },
  ],
  example: [{ tools: ["web_*"], callers: ["researcher"], by: ["ops"], needed: 1, hours: 24 }],
  read({ document, argumentRules, at, hashOf }) {
    const all = document.approve.map((said, i) => {
      const { by, needed, hours } = said;
      const rule: ApprovalRule = {
        by,
        needed,
        forMs: Math.round(hours * HOUR_MS),
        at: at(["approve", i]),
        arguments: argumentRules.get(said),
        hash: hashOf(said),
      };
      return { said, rule };
    });
    return {
      /** The rules of approval for this use: one shared object where there is none. */
      approvalsFor({ caller, tool }: Pick<Use, "caller" | "tool">): readonly ApprovalRule[] {
        const matching = all.filter(
          ({ said: { tools, callers } }) =>
            findGlob(tools, tool) !== undefined && findGlob(callers, caller) !== undefined,
        );
        return matching.length === 0 ? NONE : matching.map(({ rule }) => rule);
      },
    };
  },
  explain: ({ approvalsFor }, use) =>
    approvalsFor(use).map(({ by, needed, forMs, at, arguments: asked }) => {
      const only = asked === undefined ? "" : ", only for arguments that fit a schema";
      return `needs the approval of ${needed} of ${by.join(", ")}, within ${forMs / HOUR_MS} h${only}: ${at}`;
    }),
});
