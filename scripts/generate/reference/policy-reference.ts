import { readFile } from "node:fs/promises";
import { createPolicy, policyTable, readPolicy } from "@rockbot/policy";
import { fillPage } from "../fill-page.ts";

/** `docs/reference/policy.md`: how a policy is meant, with an example and who may do what by it. */
export async function policyReference(example: string): Promise<string> {
  const text = await readFile(example, "utf8");
  const table = policyTable(createPolicy(await readPolicy(text, example)));
  return fillPage("policy", example, { example: text.trimEnd(), table });
}
