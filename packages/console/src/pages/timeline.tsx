import type { Call } from "../api/types.ts";
import { toneOf } from "../look/badge.tsx";
import { duration, Moment } from "../look/time.tsx";

/** What each step of a call means. */
const WORDS: Readonly<Record<string, string>> = {
  asked: "Asked: the caller made it",
  accepted: "Accepted: the bus has taken responsibility for it",
  admitted: "Admitted: policy, limits and schema let it through",
  claimed: "Claimed: the service has taken it, so nobody else runs it",
  started: "Started: the tool runs",
  running: "Running: its progress has been seen",
  resumed: "Resumed: a restarted caller took it up again",
  answered: "Answered",
  failed: "Failed",
  cancelled: "Cancelled by its caller",
  timed_out: "Timed out: no answer came by the deadline",
  unknown: "Unknown: it may have run, and its outcome is lost",
  late_answer: "An answer came after the end",
};

/** What each layer of a service asks. */
const LAYERS: Readonly<Record<string, string>> = {
  messages: "the limit on messages of one caller",
  read: "the form of the request",
  sender: "the identity of the sender",
  find: "the tools that the service has",
  audit: "the audit log, which cannot be written",
  authorize: "the policy's rights",
  "in-flight": "the policy's limit on calls at once",
  rate: "the policy's rates",
  validate: "the tool's schema of arguments",
  narrow: "the policy's rules for arguments",
  claim: "the claim, which keeps a call from running twice",
  deadline: "the deadline",
  cache: "the kept results",
  queue: "the policy's queues",
  running: "the places of calls that run at once",
};

export function Timeline({ call }: { readonly call: Call }) {
  const start = call.steps[0]?.at ?? 0;
  const last = call.steps.length - 1;
  const endClass = { good: "is-good", bad: "is-bad", warn: "is-warn", quiet: "quiet" }[toneOf(call)];
  return (
    <section className="card">
      <h2>What happened</h2>
      <ol className="timeline">
        {call.steps.map(({ step, at }, index) => (
          <li key={index} className={index === last ? endClass : "quiet"}>
            {index === 0 ? <Moment at={at} /> : <time>+{duration(at - start)}</time>}
            <div>
              {WORDS[step] ?? step}
              {index === last && call.code !== undefined ? (
                <>
                  {": "}
                  <code>{call.code}</code>
                </>
              ) : null}
            </div>
          </li>
        ))}
      </ol>
      <p className="quiet">{whoAnswered(call)}</p>
    </section>
  );
}

/** What is known of the service's part, in words. */
export function whoAnswered(call: Call): string {
  const { layer, service, state, reason, steps } = call;
  const has = (step: string) => steps.some((each) => each.step === step);
  if (layer !== undefined) {
    const what = LAYERS[layer] ?? "a layer that this page does not know";
    const why = reason === undefined ? "" : `, for the reason “${reason.replaceAll("_", " ")}”`;
    return state === "answered"
      ? `The tool did not run for this call. The answer came from ${what} (“${layer}”).`
      : `The service${service === undefined ? "" : ` ${service}`} did not run the tool. It was stopped at ${what} (“${layer}”)${why}.`;
  }
  if (has("started")) return "The tool ran.";
  if (toneOf(call) === "quiet") return "What the service does is known when it answers.";
  if (service !== undefined) return "When the service admitted and started it is unknown: the service did not say.";
  if (state === "failed" && !has("accepted")) return "It ended in the caller's process, before a service had it.";
  return "What the service did is unknown: the caller has no answer of it.";
}
