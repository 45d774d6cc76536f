import { UNCHECKED, type Validator } from "@rockbot/contracts";
import type { PolicyApprovalRule, PolicyDocument, PolicyRule } from "../generated/policy.ts";
import { schemaCompiler } from "./compile-schema.ts";
import { type DocumentFault, entries, type PolicyPath } from "./document-place.ts";

/** Arguments in a rule: those that a caller may use, or those that need an approval. */
export interface ArgumentRule {
  readonly schema: object;
  readonly validate: Validator<unknown>;
}

/** The compiled argument rules of a policy, by the rule of the document that they stand in. */
export type ArgumentRules = ReadonlyMap<PolicyRule | PolicyApprovalRule, ArgumentRule>;

export const noArgumentRules: ArgumentRules = new Map();

/** Compiles the argument rules of a policy, once for all calls. */
export async function compileArgumentRules(
  document: PolicyDocument,
): Promise<{ readonly rules: ArgumentRules; readonly faults: readonly DocumentFault[] }> {
  const found = rulesOf(document).filter(({ rule }) => rule.arguments !== undefined);
  if (found.length === 0) return { rules: noArgumentRules, faults: [] };
  const compile = await schemaCompiler();
  const rules = new Map<PolicyRule | PolicyApprovalRule, ArgumentRule>();
  const faults: DocumentFault[] = [];
  for (const { rule, path, isOfApproval } of found) {
    const schema = rule.arguments as object;
    try {
      const validate = compile(schema);
      rules.set(rule, { schema, validate: isOfApproval ? orUnchecked(validate) : validate });
    } catch (error) {
      faults.push({
        path: [...path, "arguments"],
        message: `is not a usable JSON Schema: ${error instanceof Error ? error.message : String(error)}`,
      });
    }
  }
  return { rules, faults };
}

/** Takes what a bounded validator refuses to check, too: to ask for an approval in vain is safe, to leave it out is not. */
const orUnchecked = (validate: Validator<unknown>): Validator<unknown> =>
  ((input) => validate(input) || validate.errors?.[0]?.keyword === UNCHECKED) as Validator<unknown>;

interface Found {
  readonly rule: PolicyRule | PolicyApprovalRule;
  readonly path: PolicyPath;
  readonly isOfApproval: boolean;
}

function rulesOf({ callers, everyone, approve }: PolicyDocument): Found[] {
  const found = (rules: readonly Found["rule"][], path: PolicyPath, isOfApproval = false): Found[] =>
    rules.map((rule, i) => ({ rule, path: [...path, i], isOfApproval }));
  return [
    ...found(everyone.rules, ["everyone", "rules"]),
    ...entries(callers).flatMap(([name, { rules }]) => found(rules, ["callers", name, "rules"])),
    ...found(approve, ["approve"], true),
  ];
}
