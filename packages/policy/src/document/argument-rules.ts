import type { Validator } from "@rockbot/contracts";
import type { PolicyDocument, PolicyRule } from "../generated/policy.ts";
import { schemaCompiler } from "./compile-schema.ts";
import { type DocumentFault, entries, type PolicyPath } from "./document-place.ts";

/** A rule that narrows the arguments of a tool for a caller. */
export interface ArgumentRule {
  readonly schema: object;
  readonly validate: Validator<unknown>;
}

/** The compiled argument rules of a policy, by the rule of the document that they stand in. */
export type ArgumentRules = ReadonlyMap<PolicyRule, ArgumentRule>;

export const noArgumentRules: ArgumentRules = new Map();

/** Compiles the argument rules of a policy, once for all calls. */
export async function compileArgumentRules(
  document: PolicyDocument,
): Promise<{ readonly rules: ArgumentRules; readonly faults: readonly DocumentFault[] }> {
  const found = rulesOf(document).filter(({ rule }) => rule.arguments !== undefined);
  if (found.length === 0) return { rules: noArgumentRules, faults: [] };
  const compile = await schemaCompiler();
  const rules = new Map<PolicyRule, ArgumentRule>();
  const faults: DocumentFault[] = [];
  for (const { rule, path } of found) {
    const schema = rule.arguments as object;
    try {
      rules.set(rule, { schema, validate: compile(schema) });
    } catch (error) {
      faults.push({
        path: [...path, "arguments"],
        message: `is not a usable JSON Schema: ${error instanceof Error ? error.message : String(error)}`,
      });
    }
  }
  return { rules, faults };
}

function rulesOf({ callers, everyone }: PolicyDocument): { readonly rule: PolicyRule; readonly path: PolicyPath }[] {
  const named = entries(callers).flatMap(([name, { rules }]) =>
    rules.map((rule, i) => ({ rule, path: ["callers", name, "rules", i] })),
  );
  return [...everyone.rules.map((rule, i) => ({ rule, path: ["everyone", "rules", i] })), ...named];
}
