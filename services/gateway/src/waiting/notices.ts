import { metrics } from "@opentelemetry/api";
import { ProblemCode, RecentMap, startLoop, watchProblem } from "@rockbot/base";
import type { Logger } from "@rockbot/bus";
import { newId } from "@rockbot/contracts";
import { createPublicFetch, postWebhook, signedHeaders } from "@rockbot/edge/outbound";
import type { LeaseStore } from "@rockbot/records/leases";
import { END_KEPT_MS, hashOf, type Run, RunState, type RunStore } from "@rockbot/runs";
import { CONSOLE_PATH } from "../console/console-path.ts";
import { waitsForPeople } from "./waiting-calls.ts";
import { readReceiver, type WebhookReceiver } from "./webhook-receiver.ts";

export interface NoticesOptions {
  readonly runs: Pick<RunStore, "open" | "ended" | "now">;
  /** The services whose runs are looked at. */
  readonly services: () => Promise<readonly string[]>;
  /** What tells gateways which notices others have sent. @default this gateway alone sends any */
  readonly leases: Pick<LeaseStore, "hold" | "release"> | undefined;
  /** Each is an address and a key, as `webhookFault` reads them. */
  readonly receivers: readonly string[];
  /** Where operators reach the console. */
  readonly publicUrl: string;
  readonly log: Logger;
}

const LOOK_MS = 2_000;
/** So many runs of each service are read at once. */
const MAX_READ = 200;
/** Notices on their way to one receiver. */
const MAX_SENDING = 16;
const MAX_ATTEMPTS = 8;
const MAX_WAIT_MS = 60_000;
/** The timeout of one attempt. */
const SEND_MS = 5_000;
/** Longer than all attempts of one notice take. */
const TRY_MS = 10 * 60_000;
/** A run waits for 7 days at most, and is known for a day then. */
const TOLD_MS = 8 * END_KEPT_MS;
const TOLD = "told";
const MAX_KNOWN = 20_000;
/** A gateway without leases does not know what the one before it has sent. */
const BEFORE_START_MS = 60_000;

interface Notice {
  readonly id: string;
  readonly runId: string;
  readonly body: string;
}

/**
 * Tells receivers of calls that wait for people, and of the ends of kept calls, at least once, and with the same
 * `webhook-id` each time. The records of calls are the queue: what is not known to have arrived is found there by the
 * next look, of any gateway. A notice that was tried in vain is given up, logged and counted.
 */
export class Notices implements AsyncDisposable {
  readonly #options: NoticesOptions;
  readonly #receivers: readonly WebhookReceiver[];
  readonly #fetch;
  readonly #owner = newId();
  readonly #stop = new AbortController();
  /** The notices that need no further look, by receiver and notice. */
  readonly #settled = new RecentMap<string, true>(MAX_KNOWN);
  readonly #sending = new Map<string, Promise<void>>();
  /** From when on the ends of each service are not settled. */
  readonly #since = new Map<string, number>();
  readonly #counter = metrics.getMeter("@rockbot/gateway").createCounter("rockbot.gateway.webhooks", {
    description: "Notices about calls that wait or have ended, by whether they arrived.",
  });
  readonly #watched = watchProblem(ProblemCode.NoticesDead, () => this.#receivers.some(({ isFailing }) => isFailing));
  readonly #looking: AsyncDisposable;
  #isAway = false;

  constructor(options: NoticesOptions) {
    this.#options = options;
    this.#receivers = options.receivers.map(readReceiver);
    this.#fetch = createPublicFetch({
      allowAddresses: this.#receivers.map(({ host }) => host), // whoever writes the setting means them
      allowedBy: "WEBHOOKS",
      userAgent: "RockBot",
      timeoutMs: SEND_MS,
    });
    this.#looking = startLoop(LOOK_MS, () => this.#look());
  }

  /** What is on its way ends with its attempt. The rest is left for the next gateway. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#looking[Symbol.asyncDispose]();
    await Promise.all(this.#sending.values());
    this.#watched[Symbol.dispose]();
    await this.#fetch[Symbol.asyncDispose]();
  }

  async #look(): Promise<void> {
    try {
      for (const service of await this.#options.services()) await this.#lookAt(service);
      this.#isAway = false;
    } catch (error) {
      this.#warn(error);
    }
  }

  /** Once, until a look succeeds. */
  #warn(error: unknown): void {
    if (!this.#isAway) this.#options.log.warn({ error: String(error) }, "could not look for calls to tell of");
    this.#isAway = true;
  }

  async #lookAt(service: string): Promise<void> {
    const { runs, leases } = this.#options;
    // What a service has written under another name is not told of as that one's.
    for (const run of await runs.open(service, MAX_READ))
      if (run.service === service && waitsForPeople(run)) this.#tell(this.#waiting(run));
    const since =
      this.#since.get(service) ?? (await runs.now()) - (leases === undefined ? BEFORE_START_MS : END_KEPT_MS);
    const ended = await runs.ended(service, since, MAX_READ);
    let next: number | undefined;
    for (const { run, notedAt } of ended) {
      const isTold = run.service !== service || !run.isKept || this.#tell(this.#ended(run));
      if (!isTold) next ??= notedAt;
    }
    const last = ended.at(-1)?.notedAt ?? since;
    // A whole page of one moment would come again and again.
    const isStuck = next === undefined && last === since && ended.length === MAX_READ;
    this.#since.set(service, isStuck ? since + 1 : (next ?? last));
  }

  /** Begins to send it where it is not known to have arrived. @returns true if it is settled for all receivers */
  #tell(notice: Notice): boolean {
    let isSettled = true;
    for (const receiver of this.#receivers) {
      const name = `webhook:told:${hashOf(receiver.url)}:${notice.id}`;
      if (this.#settled.has(name)) continue;
      isSettled = false;
      if (this.#sending.has(name) || receiver.sending >= MAX_SENDING || this.#stop.signal.aborted) continue;
      receiver.sending++;
      const sent = this.#send(receiver, name, notice)
        .catch((error: unknown) => this.#warn(error))
        .finally(() => {
          receiver.sending--;
          this.#sending.delete(name);
        });
      this.#sending.set(name, sent);
    }
    return isSettled;
  }

  async #send(receiver: WebhookReceiver, name: string, { id, runId, body }: Notice): Promise<void> {
    const { leases, log } = this.#options;
    const holder = await leases?.hold(name, { owner: this.#owner, leaseMs: TRY_MS });
    if (holder?.owner === TOLD) this.#settled.set(name, true);
    if (holder !== undefined && holder.owner !== this.#owner) return;
    const why = await postWebhook(this.#fetch, {
      url: receiver.url,
      body,
      headers: () => signedHeaders(receiver.key, id, body),
      signal: this.#stop.signal,
      maxAttempts: receiver.isFailing ? 1 : MAX_ATTEMPTS,
      maxWaitMs: MAX_WAIT_MS,
    });
    if (why !== undefined && this.#stop.signal.aborted) {
      await leases?.release(name, this.#owner);
      return;
    }
    receiver.isFailing = why !== undefined;
    this.#counter.add(1, { result: why === undefined ? "arrived" : "dead" });
    if (why !== undefined) log.warn({ receiver: receiver.host, runId, why }, "a notice about a call did not arrive");
    this.#settled.set(name, true);
    await leases?.release(name, this.#owner);
    await leases?.hold(name, { owner: TOLD, leaseMs: TOLD_MS });
  }

  #waiting(run: Run): Notice {
    const { runId, question, approval, createdAt } = run;
    const waitsFor = question?.hash ?? JSON.stringify(approval?.binding);
    return this.#notice(run, {
      id: hashOf(JSON.stringify([runId, waitsFor])),
      type: question === undefined ? "call.needs_approval" : "call.needs_answer",
      at: createdAt,
      path: `waiting/${runId}`,
    });
  }

  #ended(run: Run): Notice {
    const { runId, toolCallId, end } = run;
    const id = hashOf(JSON.stringify([runId, "ended"]));
    return this.#notice(run, { id, type: "call.ended", at: end?.at ?? 0, path: `calls/${toolCallId}` });
  }

  /** Nothing in it is a text of the caller, of its tool or of an operator, and its link opens nothing without a login. */
  #notice(
    { runId, toolCallId, toolName, state, end }: Run,
    { id, type, at, path }: Readonly<Record<"id" | "type" | "path", string>> & { readonly at: number },
  ): Notice {
    const data = {
      id: runId,
      callId: toolCallId,
      tool: toolName,
      state: state === RunState.Ended ? "ended" : "waiting",
      ...(end === undefined ? {} : { code: end.code }),
      link: `${this.#options.publicUrl}${CONSOLE_PATH}${path}`,
    };
    return { id, runId, body: JSON.stringify({ type, timestamp: new Date(at).toISOString(), data }) };
  }
}
