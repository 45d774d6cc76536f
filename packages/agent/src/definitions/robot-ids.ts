import { isRecord } from "@rockbot/base";
import type { TurnTool } from "../calls/turn-tools.ts";
import type { AgentDefinition } from "./agent-definition.ts";

/** Values that a schema has at most. */
const MAX_VALUES = 100;
const ARGUMENT = "robot_id";
const OF_ALL = ["robot_get", "robot_switch"];
const OF_OWN = ["robot_update", "robot_delete"];

/**
 * Gives tools for definitions the ids that the caller may name, as the values of their argument. They differ from caller to caller, so no announcement has
 * them. The tool itself takes any text, and says what is wrong with it.
 */
export function withRobotIds(visible: readonly AgentDefinition[], caller: string): (tool: TurnTool) => TurnTool {
  const idsOf = (all: readonly AgentDefinition[]): readonly string[] => all.flatMap(({ id }) => id ?? []);
  const [all, own] = [idsOf(visible), idsOf(visible.filter(({ maker }) => maker === caller))];
  return (entry) => {
    const ids = OF_ALL.includes(entry.tool.name) ? all : OF_OWN.includes(entry.tool.name) ? own : [];
    return ids.length === 0 || ids.length > MAX_VALUES ? entry : { ...entry, tool: { ...entry.tool, parameters: withValues(entry.tool.parameters, ids) } };
  };
}

function withValues(parameters: object, values: readonly string[]): object {
  const properties = (parameters as { readonly properties?: unknown }).properties;
  const argument = isRecord(properties) ? properties[ARGUMENT] : undefined;
  if (!isRecord(properties) || !isRecord(argument)) return parameters;
  const takesNull = Array.isArray(argument["type"]) && argument["type"].includes("null");
  return { ...parameters, properties: { ...properties, [ARGUMENT]: { ...argument, enum: takesNull ? [...values, null] : values } } };
}
