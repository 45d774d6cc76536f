import { isRecord } from "@rockbot/base";
import { canonicalJson, type ToolDefinition } from "@rockbot/contracts";
import type { ApprovalRule, Decision } from "@rockbot/policy";
import { type Binding, hashOf } from "@rockbot/runs";

/** The rules that ask for an approval of a call with these arguments. */
export const askedOf = (decision: Decision | undefined, input: unknown): readonly ApprovalRule[] =>
  decision === undefined || decision.approvals.length === 0
    ? []
    : decision.approvals.filter((rule) => rule.arguments === undefined || rule.arguments.validate(input));

/** All that an approval of a call is about, and its arguments as people see them. */
export function bindingOf(
  definition: ToolDefinition,
  input: unknown,
  {
    caller,
    asked,
    boundTo,
  }: { readonly caller: string; readonly asked: readonly ApprovalRule[]; readonly boundTo: string | undefined },
): { readonly binding: Binding; readonly text: string } {
  const { name, description, inputSchema, outputSchema, readOnly, idempotent, dangerous } = definition;
  const text = canonicalJson(withDefaults(definition.inputSchema, input));
  return {
    text,
    binding: {
      caller,
      tool: name,
      argumentsHash: hashOf(text),
      definitionHash: hashOf(
        canonicalJson({
          name,
          description,
          inputSchema,
          outputSchema,
          readOnly,
          idempotent,
          dangerous: dangerous === true,
        }),
      ),
      decisionHash: hashOf(canonicalJson([boundTo, asked.map(({ hash }) => hash).sort()])),
    },
  };
}

/** Defaults are filled in so deep. */
const MAX_DEPTH = 8;

/** The arguments with the defaults of the schema's own properties, so that people see what the tool will use. */
function withDefaults(schema: unknown, input: unknown, depth = 0): unknown {
  const properties = isRecord(schema) ? schema["properties"] : undefined;
  if (!isRecord(properties) || !isRecord(input) || depth >= MAX_DEPTH) return input;
  const filled: Record<string, unknown> = { ...input };
  for (const [name, property] of Object.entries(properties)) {
    const isGiven = Object.hasOwn(input, name);
    if (!isGiven && isRecord(property) && Object.hasOwn(property, "default")) define(filled, name, property["default"]);
    else if (isGiven) define(filled, name, withDefaults(property, input[name], depth + 1));
  }
  return filled;
}

/** Sets an own property of any name. */
const define = (target: object, name: string, value: unknown): void =>
  void Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
