import { childToolOf, isTaken } from "../family/child-names.ts";
import type { AgentDefinition } from "../words/agent-definition.ts";

/**
 * What the fields of a definition may hold. The schema of the tools that write definitions says the same of its
 * arguments.
 */
const definitionBounds = {
  nameChars: 48,
  descriptionChars: 2_000,
  playbookChars: 65_536,
  modelChars: 256,
  tools: 256,
  toolChars: 128,
  destinations: 32,
  reportSchemaChars: 32_768,
  maxTokens: { least: 1_000, most: 100_000_000 },
  maxIterations: { least: 1, most: 200 },
  timeoutMs: { least: 1_000, most: 1_200_000 },
  maxCost: 1_000_000,
} as const;

const NAME = /^[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*$/;

/** The fault of a name, in words; undefined if a definition may have it. */
export function nameFault(name: string): string | undefined {
  const asTool = name.replaceAll("-", "_"); // models mix the two up
  if (isTaken(asTool))
    return `name: ${quoted(name)} is taken, as ${childToolOf(asTool)} is a tool of its own. Choose another`;
  return formFault(name, "travel-clerk");
}

/** The fault of a name that a tool is to end with, in words. */
export function formFault(name: string, example: string): string | undefined {
  const { nameChars } = definitionBounds;
  if (name.length <= nameChars && NAME.test(name)) return undefined;
  return `name: ${quoted(name)} is not a valid name. Use at most ${nameChars} of a-z, 0-9, and single - or _ between them, with a letter first, such as "${example}"`;
}

type Checked = Pick<
  AgentDefinition,
  "name" | "description" | "playbook" | "tools" | "model" | "budgets" | "destinations" | "reportSchema"
>;

/** The faults of a definition, in words; none if it can be kept. */
export function definitionFaults({
  name,
  description,
  playbook,
  tools,
  model,
  budgets = {},
  destinations = [],
  reportSchema,
}: Checked): readonly string[] {
  const bounds = definitionBounds;
  const faults = [
    nameFault(name),
    textFault("description", description, bounds.descriptionChars),
    playbook.trim() === ""
      ? "playbook: is blank. Say how the agent works"
      : textFault("playbook", playbook, bounds.playbookChars),
    model === undefined ? undefined : textFault("model", model, bounds.modelChars),
    tools.length > bounds.tools ? `tools: expected at most ${bounds.tools}, got ${tools.length}` : undefined,
    ...tools.map((tool) => textFault("tools", tool, bounds.toolChars)),
    destinations.length > bounds.destinations
      ? `destinations: expected at most ${bounds.destinations}, got ${destinations.length}`
      : undefined,
    ...(["maxTokens", "maxIterations", "timeoutMs"] as const).map((budget) => {
      const { least, most } = bounds[budget];
      const value = budgets[budget];
      const isRight = value === undefined || (Number.isSafeInteger(value) && value >= least && value <= most);
      return isRight ? undefined : `${budget}: expected a whole number from ${least} to ${most}, got ${value}`;
    }),
    budgets.maxCost === undefined || (budgets.maxCost > 0 && budgets.maxCost <= bounds.maxCost)
      ? undefined
      : `maxCost: expected a number above 0, at most ${bounds.maxCost}, got ${budgets.maxCost}`,
    reportSchema === undefined
      ? undefined
      : textFault("reportSchema", JSON.stringify(reportSchema), bounds.reportSchemaChars),
  ];
  return faults.filter((fault) => fault !== undefined);
}

const textFault = (field: string, text: string, most: number): string | undefined =>
  text.length > most ? `${field}: expected at most ${most} characters, got ${text.length}` : undefined;

const quoted = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
