import type { PolicyDocument } from "../generated/policy.ts";
import { entries } from "./document-place.ts";

/** What a policy lets callers do whom it does not name, and whom it names and yet gives nothing, in words for its operator. */
export function unnamedCallers({ callers, everyone: { allow } }: PolicyDocument): string[] {
  const tools = allow.includes("*") ? "every tool but the dangerous ones" : allow.length === 0 ? "no tool" : `only ${allow.join(", ")}`;
  const idle = entries(callers).flatMap(([name, own]) => ((own.allow ?? allow).length === 0 ? [name] : []));
  return [
    `callers that are not named may use ${tools}${allow.length === 0 ? ": everyone.allow names none" : ""}`,
    ...(idle.length === 0 ? [] : [`may use no tool though named, as there is no list of what they are allowed: ${idle.join(", ")}`]),
  ];
}
