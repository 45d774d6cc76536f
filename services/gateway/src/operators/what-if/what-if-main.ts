import { once } from "node:events";
import { createPolicy, policyNotes, readPolicy } from "@rockbot/policy";
import { judgeCalls } from "./judge-calls.ts";
import { READY, type Trial, type TrialOutcome } from "./try-policy.ts";

// The process that tries a policy. What an operator has pasted may be slow to read, or need much memory, and so the
// gateway can end it.

const [trial] = await once(process, "message");
const { inForce, proposed, calls } = trial as Trial;
const before = createPolicy(await readPolicy(inForce, "in force"));
process.send?.(READY);
process.send?.(await outcome());

async function outcome(): Promise<TrialOutcome> {
  try {
    const { document, revision, ...source } = await readPolicy(proposed, "to try");
    const rows = judgeCalls(before, createPolicy({ document, revision, ...source }), calls);
    return { revision, notes: policyNotes(document), rows };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}
