import { childToolOf, type KeptDefinition } from "@rockbot/agent";
import { allToolNames, nearestName, orDidYouMean } from "@rockbot/contracts";
import { findGlob } from "@rockbot/policy";

/** The names that are known, of those that a robot is to have, and what is wrong with the others, in words. */
export interface CheckedNames {
  readonly kept: readonly string[];
  readonly errors: readonly string[];
}

/**
 * Tells tools that there are from those that there are not: tools of the system, those that the caller is offered, and
 * the robots that it sees.
 * @param wanted names and globs
 */
export function checkTools(
  wanted: readonly string[],
  offered: readonly string[],
  visible: readonly KeptDefinition[],
): CheckedNames {
  const known = [...new Set([...allToolNames, ...offered, ...visible.map(({ name }) => childToolOf(name))])];
  return checkEach(wanted, (name) => {
    if (name.includes("*"))
      return known.some((tool) => findGlob([name], tool))
        ? undefined
        : `no tool that there is for you fits ${JSON.stringify(name)}`;
    return known.includes(name)
      ? undefined
      : `there is no tool ${JSON.stringify(name)} for you${orDidYouMean(name, known)}`;
  }).named("tools");
}

/** Tells robots that the caller sees from names of others. */
export function checkDestinations(
  wanted: readonly string[],
  own: string,
  visible: readonly KeptDefinition[],
): CheckedNames {
  const known = visible.map(({ name }) => name);
  return checkEach(wanted, (name) => {
    if (name === own) return `${JSON.stringify(name)} is the robot itself`;
    return known.includes(name) ? undefined : `you see no robot ${JSON.stringify(name)}${help(name, known)}`;
  }).named("destinations");
}

/** Tells models that robots may have from others. @param before stays in the place of one that is not known */
export function checkModel(wanted: string, known: readonly string[], before: string | undefined) {
  if (known.includes(wanted)) return { model: wanted, errors: [] };
  return {
    model: before,
    errors: [`model: robots have no model ${JSON.stringify(wanted)}. There are: ${known.join(", ")}`],
  };
}

function checkEach(wanted: readonly string[], faultOf: (name: string) => string | undefined) {
  const names = [...new Set(wanted.map((name) => name.trim()))];
  const faults = names.map(faultOf);
  return {
    named: (field: string): CheckedNames => ({
      kept: names.filter((_, i) => faults[i] === undefined),
      errors: faults.flatMap((fault) => (fault === undefined ? [] : [`${field}: ${fault}`])),
    }),
  };
}

function help(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined ? "" : `. Did you mean "${nearest}"?`;
}
