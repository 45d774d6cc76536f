import type { TurnTool } from "@rockbot/agent/plugin";
import { isRecord } from "@rockbot/base";
import { tools as contracts, namesHelp, orDidYouMean } from "@rockbot/contracts";
import { findGlob } from "@rockbot/policy";
import { isWispTool } from "../pipeline/kept-wisp.ts";
import type { WispCall, WispCondition, WispStep } from "../pipeline/wisp.ts";

export interface StepFaultsOptions {
  readonly tools: readonly TurnTool[];
  /** Why the session may not use another that its caller may, in words. @default there is no such tool */
  readonly refusal?: ((name: string) => string | undefined) | undefined;
  /** Names and globs that the pipeline may use. @default all */
  readonly allowed?: readonly string[] | undefined;
}

/** A wisp does nothing to the session itself, and begins no further wisps or batches. */
const NOT_IN_A_WISP: readonly string[] = [
  contracts.spawnWisps.name,
  contracts.saveWisp.name,
  contracts.deleteWisp.name,
  contracts.agentBatch.name,
  contracts.agentFinalReport.name,
  contracts.agentTaskStatus.name,
  contracts.routerHandoffTo.name,
];

/** What is wrong with a step by itself: its tool, the names of its arguments, its condition. */
export function stepFaults({ work, place, forEach, when }: WispStep, options: StepFaultsOptions): readonly string[] {
  return [
    ...(work.kind === "call" ? callFaults(work, place, options) : []),
    ...(Array.isArray(forEach?.items) && forEach.items.length > forEach.max
      ? [`${place}/for_each: has ${forEach.items.length} items, and max says at most ${forEach.max}`]
      : []),
    ...(when === undefined ? [] : conditionFaults(when, `${place}/when`)),
  ];
}

function callFaults(
  { tool: name, arguments: args }: WispCall,
  place: string,
  { tools, refusal, allowed }: StepFaultsOptions,
): readonly string[] {
  if (NOT_IN_A_WISP.includes(name) || isWispTool(name))
    return [`${place}/tool: "${name}" cannot be part of a wisp: call it by itself`];
  const found = tools.find(({ tool }) => tool.name === name);
  const refused = refusal?.(name);
  if (refused !== undefined) return [`${place}/tool: "${name}" cannot be used here: ${refused}`];
  if (found === undefined) {
    const names = tools.map(({ tool }) => tool.name).filter((known) => !NOT_IN_A_WISP.includes(known));
    return [`${place}/tool: there is no tool "${name}" for you${orDidYouMean(name, names)}`];
  }
  if (allowed !== undefined && findGlob(allowed, name) === undefined)
    return [
      `${place}/tool: "${name}" is not among the tools of this wisp, which are ${allowed.join(", ") || "none"}. Add it there, or leave tools out`,
    ];
  return argumentFaults(found.tool.parameters, args, `${place}/arguments`);
}

/** Values are known only when the step runs; names are known before. */
function argumentFaults(schema: object, args: Readonly<Record<string, unknown>>, place: string): readonly string[] {
  const { properties, required, additionalProperties } = schema as { readonly [keyword: string]: unknown };
  const known = isRecord(properties) ? Object.keys(properties) : [];
  const missing = Array.isArray(required)
    ? required.filter((name): name is string => typeof name === "string" && args[name] === undefined)
    : [];
  const unknown = additionalProperties === false ? Object.keys(args).filter((name) => !known.includes(name)) : [];
  return [
    ...missing.map((name) => `${place}/${name}: is required and missing`),
    ...unknown.map((name) => `${place}/${name}: is no argument of the tool. ${namesHelp(name, known)}`),
  ];
}

function conditionFaults({ is, to }: WispCondition, place: string): readonly string[] {
  const compares = is !== "present" && is !== "missing";
  if (compares && to === undefined) return [`${place}/to: is missing: "${is}" compares the value with it`];
  return compares || to === undefined ? [] : [`${place}/to: has no effect: "${is}" compares the value with nothing`];
}

/** What is wrong with the list of tools itself. */
export function toolListFaults(
  allowed: readonly string[] | undefined,
  { toolNames, place }: { readonly toolNames: readonly string[]; readonly place: string },
): readonly string[] {
  return (allowed ?? []).flatMap((wanted) => {
    if (toolNames.some((name) => findGlob([wanted], name) !== undefined)) return [];
    return [`${place}: there is no tool "${wanted}" for you${orDidYouMean(wanted, toolNames)}`];
  });
}
