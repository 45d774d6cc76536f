import type { Decision, Use } from "../decision.ts";
import type { PolicyPath } from "../document/document-place.ts";
import { defineFacet } from "./facet.ts";

export const afterUntrusted = defineFacet({
  place: "entries",
  readBy: "decisions",
  schema: {
    type: "object",
    additionalProperties: false,
    required: ["effects"],
    description:
      "What may still be called after untrusted content, such as a web page, was read. A caller's own entry replaces everyone's. Default: everything.",
    properties: {
      effects: {
        type: "string",
        enum: ["allow", "deny"],
        description:
          "`allow` lets tools that are not read-only still be called; `deny` refuses them, except those that `allow` here names in full.",
      },
      allow: {
        type: "array",
        maxItems: 200,
        items: { type: "string", pattern: "^[A-Za-z0-9_-]{1,64}$" },
        description: "Tools that may be called all the same, by their full names.",
      },
    },
  },
  docs: [
    {
      holds:
        "what may be called once untrusted content was read, as requests say by `rb-untrusted`: with `effects: deny` only tools that are read-only, and those whose full names stand in its `allow`. A caller's own replaces everyone's. Nothing that is denied before is allowed after",
      beyond: "`denied`",
    },
  ],
  example: { effects: "deny", allow: ["note_save"] },
  read: ({ document: { everyone }, callers, at }) => ({
    /** What is said of tools with effects once untrusted content was read. */
    effectsAfterUntrusted({ caller, tool }: Use): Pick<Decision, "isAllowed" | "because"> {
      const own = callers.get(caller)?.afterUntrusted;
      const { effects, allow = [] } = own ?? everyone.afterUntrusted ?? {};
      if (effects !== "deny") return { isAllowed: true, because: "nothing denies it then" };
      const path: PolicyPath = [...(own === undefined ? ["everyone"] : ["callers", caller]), "afterUntrusted"];
      const index = allow.indexOf(tool);
      if (index >= 0) return { isAllowed: true, because: `"${tool}" in ${at([...path, "allow", index])}` };
      return { isAllowed: false, because: `nothing in ${at(path)} names it` };
    },
  }),
  explain({ effectsAfterUntrusted }, use) {
    if (!use.isAllowed) return [];
    const { isAllowed, because } = effectsAfterUntrusted(use);
    const denied = use.isReadOnly === false ? "denied" : "denied, unless the tool is read-only";
    const words = use.mayHaveEffects
      ? `${isAllowed ? "allowed" : denied}: ${because}`
      : `allowed, as ${use.isReadOnly ? "the tool is read-only" : "the policy decides on each call that the tool makes"}`;
    return [`once untrusted content was read: ${words}`];
  },
});
