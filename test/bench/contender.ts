import { DEFAULT_CONCURRENCY } from "@rockbot/bus";
import type { Payload } from "./payload.ts";

/** One way of calling a function in another process. Its module in contenders/ exports these two functions. */
export interface Contender {
  /** Answers calls until disposed: with the text that came. Where caller and service are one process there is none. */
  serve?(place: Place): Promise<AsyncDisposable>;
  /** A process between the caller and the service, if the contender has one. @returns its address, for `connect` */
  front?(place: Place): Promise<string>;
  /** Resolves once calls can be made. @param front the address of the process in between, if there is one */
  connect(place: Place, front?: string): Promise<Caller>;
}

/** Where a contender runs. */
export interface Place {
  readonly amqpUrl: string;
  readonly redisUrl: string;
  /** Where a collector takes traces and metrics as OTLP over HTTP. */
  readonly otlpUrl: string;
  /** The policy by which the broker has users, each with a password of its own and the rights that follow. */
  readonly policyFile: string;
  /** The broker's address for each of these users. */
  readonly amqpUrls: Readonly<Record<string, string>>;
  /** For what is to be kept for the run. */
  readonly folder: string;
}

export interface Caller extends AsyncDisposable {
  /** Resolves with the answer; rejects if there is none. */
  call(payload: Payload): Promise<Payload>;
}

/** How many calls a service of ours runs at once unless told otherwise. */
export const SERVICE_CONCURRENCY = DEFAULT_CONCURRENCY;
/** How many messages each service holds at once: twice the calls that ours runs at once, and the same for all. */
export const PREFETCH = 2 * SERVICE_CONCURRENCY;
/**
 * The most calls that the bench has out at once: a caller of ours is allowed as many, and all may hold as many answers.
 */
export const MAX_CALLS_OUT = 1024;
