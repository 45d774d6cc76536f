import { readFile } from "node:fs/promises";
import { counted, tools } from "@rockbot/contracts";
import {
  createPolicy,
  defaultPolicySource,
  entries,
  type Policy,
  policyNotes,
  policyTable,
  readPolicy,
  type Use,
} from "@rockbot/policy";
import { plainText } from "../terminal/plain-text.ts";
import { UsageError } from "../usage-error.ts";

export interface PolicyOptions {
  readonly policy?: string;
  readonly json?: boolean;
}

/** `rockbot policy check`: what is wrong with a policy file, or what it says in short. */
export async function checkPolicy(file: string): Promise<void> {
  const { revision, document } = await loadPolicy(file);
  const [callers, services] = [entries(document.callers).length, entries(document.services).length];
  console.log(
    plainText(
      `${file} can be used: revision ${revision}, identity ${document.identity}, ${counted(callers, "caller")}, ${counted(services, "service")}`,
    ),
  );
  for (const words of policyNotes(document)) console.error(plainText(`rockbot: ${words}`));
}

/** `rockbot policy explain`: whether a caller may use a tool, why, and what limits hold. */
export async function explainPolicy(use: Use, { policy: file, json = false }: PolicyOptions): Promise<void> {
  const policy = await loadPolicy(file ?? (process.env["POLICY_FILE"] || undefined));
  const tool = Object.values(tools).find(({ name }) => name === use.tool);
  const known: Use = { ...use, isDangerous: tool?.dangerous, isReadOnly: tool?.readOnly };
  if (json) {
    const { isAllowed, because, revision, rates, bytes, argumentRules, approvals, ...limits } = policy.decide(known);
    const shown = {
      isAllowed,
      because,
      isAllowedAfterUntrusted: policy.decide({ ...known, hasReadUntrusted: true }).isAllowed,
      revision,
      rates: rates.map(withoutKey),
      bytes: bytes && withoutKey(bytes),
      ...limits,
      arguments: argumentRules.map(({ schema }) => schema),
      approvals: approvals.map((rule) => ({ ...rule, arguments: rule.arguments?.schema })),
    };
    console.log(JSON.stringify(shown, undefined, 2));
  } else for (const line of policy.explain(known)) console.log(plainText(line));
}

/** `rockbot policy table`: who may use which tool. */
export async function showPolicyTable(file: string | undefined): Promise<void> {
  process.stdout.write(policyTable(await loadPolicy(file ?? (process.env["POLICY_FILE"] || undefined))));
}

async function loadPolicy(file: string | undefined): Promise<Policy> {
  if (file === undefined) return createPolicy(defaultPolicySource());
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new UsageError([
      `Cannot read the policy ${file}: ${(error as NodeJS.ErrnoException).code ?? "unknown error"}`,
    ]);
  }
  return createPolicy(await readPolicy(text, file));
}

const withoutKey = ({ key, ...limit }: { readonly key: string }): object => limit;
