import { metrics } from "@opentelemetry/api";
import { LinkedList, remembered } from "@rockbot/base";
import { MAX_TIMEOUT_MS } from "../limits.ts";

interface Waiting {
  /** As the sender, or the broker, has stamped the message, in Unix seconds. */
  readonly publishedAt: number;
  /** The time of receipt, on the clock of `performance.now()`. */
  readonly receivedAt: number;
}

/** A request that has come, until its tool starts or it is answered without. */
export interface WaitingRequest extends Disposable {
  started(): void;
}

const services = new Map<WaitingRequests, string>();

/** The same frozen labels are found at once by what counts. */
const labelsOf = remembered((service) => Object.freeze({ service }));

/**
 * Made when first needed: what is made before telemetry starts, such as while modules load, records nothing for ever.
 */
let areMade = false;
function makeGauges(): void {
  if (areMade) return;
  areMade = true;
  const meter = metrics.getMeter("@rockbot/tools");
  meter
    .createObservableGauge("rockbot.tool.requests.waiting", {
      description: "Requests that this instance has taken from the bus and not started, by service.",
    })
    .addCallback((result) => {
      for (const [waiting, service] of services) result.observe(waiting.count, { service });
    });
  meter
    .createObservableGauge("rockbot.tool.requests.oldest.seconds", {
      unit: "s",
      description:
        "Time since the oldest request that this instance has taken and not started was published; 0 if there is none. Those at the broker are younger.",
    })
    .addCallback((result) => {
      for (const [waiting, service] of services) result.observe(waiting.oldestMs / 1000, { service });
    });
}

/**
 * The requests of a service that wait in this process for their tools to start. The bus hands out the oldest first, so
 * none waits longer there.
 */
export class WaitingRequests implements Disposable {
  readonly #waiting = new LinkedList<Waiting>();
  readonly #service: string;
  readonly #wait = metrics.getMeter("@rockbot/tools").createHistogram("rockbot.tool.wait.duration", {
    unit: "ms",
    description:
      "Time from a request's publishing to the start of its tool: at the broker by the message's timestamp, which has whole seconds, here exactly.",
  });
  #count = 0;

  constructor(service: string) {
    makeGauges();
    this.#service = service;
    services.set(this, service);
  }

  get count(): number {
    return this.#count;
  }

  /** 0 if none waits. */
  get oldestMs(): number {
    const [oldest] = this.#waiting;
    return oldest === undefined ? 0 : waitedMs(oldest);
  }

  add(publishedAt: number, receivedAt: number): WaitingRequest {
    const waiting = { publishedAt, receivedAt };
    const entry = this.#waiting.add(waiting);
    let isWaiting = true;
    this.#count++;
    const end = (): boolean => {
      if (!isWaiting) return false;
      isWaiting = false;
      this.#count--;
      entry.remove();
      return true;
    };
    return {
      started: () => {
        if (end()) this.#wait.record(waitedMs(waiting), labelsOf(this.#service));
      },
      [Symbol.dispose]: () => void end(),
    };
  }

  [Symbol.dispose](): void {
    services.delete(this);
  }
}

/**
 * The time that a request has waited for certain: a timestamp of whole seconds may be nearly one late. A false
 * timestamp counts no more than the longest time that a call may take, and does not hide the wait here.
 */
function waitedMs({ publishedAt, receivedAt }: Waiting): number {
  const since = Math.min(Date.now() - (publishedAt + 1) * 1000, MAX_TIMEOUT_MS);
  return Math.max(since, performance.now() - receivedAt);
}
