import { isRecord } from "@rockbot/base";
import type { TurnTool } from "../calls/turn-tools.ts";
import { canBeCalled, childToolOf } from "../family/child-names.ts";
import type { AgentDefinition } from "../words/agent-definition.ts";

/** Values that a schema has at most. */
const MAX_VALUES = 100;
const OF_ALL = ["robot_get", "robot_switch"];
const OF_OWN = ["robot_update", "robot_delete"];
const TAKE_TOOLS = ["robot_create", "robot_update"];

/**
 * Gives tools for definitions the ids that the caller may name, as the values of their argument, with the names beside
 * them; and the names of the tools that call the definitions. They differ from caller to caller, so no announcement has
 * them. The tool itself takes any text, and says what is wrong with it.
 */
export function withRobotIds(visible: readonly AgentDefinition[], caller: string): (tool: TurnTool) => TurnTool {
  const own = visible.filter(({ maker }) => maker === caller);
  const callable = visible.flatMap(({ name }) => (canBeCalled(name) ? [childToolOf(name)] : []));
  return (entry) => {
    const { name, parameters } = entry.tool;
    const named = (OF_ALL.includes(name) ? visible : OF_OWN.includes(name) ? own : []).filter(
      ({ id }) => id !== undefined,
    );
    const withIds =
      named.length === 0 || named.length > MAX_VALUES
        ? parameters
        : withArgument(parameters, "robot_id", (argument) => idsIn(argument, named));
    if (!TAKE_TOOLS.includes(name) || callable.length === 0)
      return withIds === parameters ? entry : { ...entry, tool: { ...entry.tool, parameters: withIds } };
    const told = `Robots are called by: ${callable.slice(0, MAX_VALUES).join(", ")}.`;
    return {
      ...entry,
      tool: { ...entry.tool, parameters: withArgument(withIds, "tools", (argument) => described(argument, told)) },
    };
  };
}

type Schema = Readonly<Record<string, unknown>>;

function withArgument(parameters: object, name: string, change: (argument: Schema) => Schema): object {
  const properties = (parameters as { readonly properties?: unknown }).properties;
  const argument = isRecord(properties) ? properties[name] : undefined;
  return isRecord(properties) && isRecord(argument)
    ? { ...parameters, properties: { ...properties, [name]: change(argument) } }
    : parameters;
}

function idsIn(argument: Schema, named: readonly AgentDefinition[]): Schema {
  const ids = named.map(({ id }) => id);
  const takesNull = Array.isArray(argument["type"]) && argument["type"].includes("null");
  return {
    ...described(argument, `There are: ${named.map(({ id, name }) => `${id} (${name})`).join(", ")}.`),
    enum: takesNull ? [...ids, null] : ids,
  };
}

const described = (argument: Schema, told: string): Schema => ({
  ...argument,
  description: [argument["description"], told].filter((text) => text !== undefined).join(" "),
});
