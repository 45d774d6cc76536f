import { readFile } from "node:fs/promises";
import { metrics, type ObservableCallback } from "@opentelemetry/api";
import { ProblemCode, startLoop, watchProblem } from "@rockbot/base";
import { type Logger, silentLogger } from "@rockbot/bus";
import { ConfigError } from "@rockbot/contracts";
import { policyNotes } from "./document/policy-notes.ts";
import { defaultPolicySource, type PolicySource, readPolicy } from "./document/read-policy.ts";
import type { Readers, ServiceFacet } from "./facets/index.ts";
import type { PolicyDocument } from "./generated/policy.ts";
import { createPolicy, type Policy } from "./policy.ts";

/** Where changes of a policy are reported, and how often its file is read. */
export interface OpenPolicyOptions {
  readonly log?: Logger | undefined;
  /** How often the file is looked at. @default 1_000 */
  readonly everyMs?: number | undefined;
  /** What is kept without a file. @default nothing */
  readonly keep?: PolicyDocument["keep"] | undefined;
}

/** The policy as the file has it now. */
export interface PolicyHolder<Read = unknown> extends AsyncDisposable {
  current(): Policy<Read>;
  /** Calls `listener`, which must not throw, with each new policy, until the returned function is called. */
  onChange(listener: (policy: Policy<Read>) => void): () => void;
}

/**
 * Reads the policy file, and again whenever its content is another, whatever way it is replaced. Content that cannot be
 * used changes nothing: its faults are logged, once. Content with another `identity` is such, as a process has one for
 * life. Without a file every caller may use every tool but the dangerous ones, which is logged loudly.
 * @throws {ConfigError} if the file cannot be used at the start, with all its faults
 */
export async function openPolicy(
  file: string | undefined,
  { log = silentLogger, everyMs = 1_000, keep }: OpenPolicyOptions = {},
): Promise<PolicyHolder<Readers<ServiceFacet>>> {
  if (file === undefined) {
    log.warn(
      {},
      "there is no policy file: every caller may use every tool except the dangerous ones, without a limit, also after untrusted content. Set POLICY_FILE",
    );
    const source = defaultPolicySource();
    return holdPolicy(
      createPolicy(keep === undefined ? source : { ...source, document: { ...source.document, keep } }),
    );
  }
  const reloads = metrics
    .getMeter("@rockbot/policy")
    .createCounter("rockbot.policy.reloads", { description: "Times the policy file changed, by outcome." });
  const listeners = new Set<(policy: Policy<Readers<ServiceFacet>>) => void>();
  let used = await readText(file);
  let policy = createPolicy(await readPolicy(used, file));
  /** Content that is new is read once it is seen a second time: the first may be half of what is being written. */
  let seen = used;
  /** Why what is there now cannot be used, and what that is if it could be read. */
  let trouble: { readonly message: string; readonly text?: string } | undefined;
  log.info({ file, revision: policy.revision, notes: policyNotes(policy.document) }, "loaded the policy");

  function refuse(error: unknown, text?: string): void {
    const message = error instanceof Error ? error.message : String(error);
    if (message === trouble?.message) return;
    trouble = { message, ...(text === undefined ? {} : { text }) };
    reloads.add(1, { outcome: "refused" });
    log.error(
      { file, revision: policy.revision, reason: message },
      "refused the changed policy file, and keeps the policy loaded before",
    );
  }

  async function take(text: string): Promise<void> {
    const source = await readPolicy(text, file as string);
    checkIdentity(policy, source, file as string);
    const next = createPolicy(source);
    used = text;
    trouble = undefined;
    if (next.revision === policy.revision) return; // another form of the same
    log.info(
      { file, revision: next.revision, before: policy.revision, notes: policyNotes(next.document) },
      "loaded the changed policy",
    );
    policy = next;
    reloads.add(1, { outcome: "changed" });
    for (const listener of [...listeners]) listener(policy);
  }

  async function look(): Promise<void> {
    let text: string;
    try {
      text = await readText(file as string);
    } catch (error) {
      refuse(error);
      return;
    }
    const isSettled = text === seen;
    seen = text;
    if (text === used) trouble = undefined;
    else if (isSettled && text !== trouble?.text) await take(text).catch((error: unknown) => refuse(error, text));
  }

  const watched = watchProblem(ProblemCode.PolicyRefused, () => trouble !== undefined);
  const loop = observeRevision(() => policy.revision, startLoop(everyMs, look));
  return {
    current: () => policy,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async [Symbol.asyncDispose]() {
      watched[Symbol.dispose]();
      await loop[Symbol.asyncDispose]();
    },
  };
}

/** The metric is there until the disposal of `loop`, as which it is disposed of. */
function observeRevision(revision: () => string, loop: AsyncDisposable): AsyncDisposable {
  const gauge = metrics.getMeter("@rockbot/policy").createObservableGauge("rockbot.policy.in_force", {
    description: "1, with the revision of the policy that this process goes by.",
  });
  const observe: ObservableCallback = (result) => result.observe(1, { revision: revision() });
  gauge.addCallback(observe);
  return {
    async [Symbol.asyncDispose]() {
      gauge.removeCallback(observe);
      await loop[Symbol.asyncDispose]();
    },
  };
}

/** A policy that never changes. */
export function holdPolicy<Read>(policy: Policy<Read>): PolicyHolder<Read> {
  return { current: () => policy, onChange: () => () => {}, async [Symbol.asyncDispose]() {} };
}

/** @throws {ConfigError} if the process would have to be another */
function checkIdentity({ document: { identity } }: Policy, { document, lineOf }: PolicySource, file: string): void {
  if (document.identity === identity) return;
  const line = lineOf(["identity"]);
  const where = line === undefined ? "identity" : `identity, line ${line}`;
  throw new ConfigError(
    [
      `${where}: it is "${document.identity}" now, and this process runs with "${identity}", which is for its life. Restart it to take the file up`,
    ],
    `the policy ${file}`,
  );
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new ConfigError(
      [`it cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown error"}). Give a readable file or none`],
      `the policy ${file}`,
    );
  }
}
