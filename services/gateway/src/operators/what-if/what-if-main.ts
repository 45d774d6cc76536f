import { parentPort, workerData } from "node:worker_threads";
import { createPolicy, policyNotes, readPolicy } from "@rockbot/policy";
import { judgeCalls } from "./judge-calls.ts";
import { READY, type Trial, type TrialOutcome } from "./try-policy.ts";

// The thread that tries a policy. What an operator has pasted may be slow to read, and so the gateway can end it.

const { inForce, proposed, calls } = workerData as Trial;
const before = createPolicy(await readPolicy(inForce, "in force"));
parentPort?.postMessage(READY);
parentPort?.postMessage(await outcome());

async function outcome(): Promise<TrialOutcome> {
  try {
    const { document, revision, ...source } = await readPolicy(proposed, "to try");
    const rows = judgeCalls(before, createPolicy({ document, revision, ...source }), calls);
    return { revision, notes: policyNotes(document), rows };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}
