import type { PolicyDocument } from "../generated/policy.ts";
import { entries } from "./document-place.ts";

/**
 * The rights that a policy gives callers whom it does not name, in words for its operator. They also say which callers
 * it names and yet gives nothing.
 */
export function unnamedCallers({ callers, everyone: { allow } }: PolicyDocument): string[] {
  const tools = allow.includes("*")
    ? "every tool but the dangerous ones"
    : allow.length === 0
      ? "no tool"
      : `only ${allow.join(", ")}`;
  const idle = entries(callers).flatMap(([name, own]) => ((own.allow ?? allow).length === 0 ? [name] : []));
  return [
    `callers that are not named may use ${tools}${allow.length === 0 ? ": everyone.allow names none" : ""}`,
    ...(idle.length === 0
      ? []
      : [`may use no tool though named, as there is no list of what they are allowed: ${idle.join(", ")}`]),
  ];
}
