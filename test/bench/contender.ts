/** One way of calling a function in another process. Its module in contenders/ exports these two functions. */
export interface Contender {
  /** Answers calls until disposed: with the text that came. Where caller and service are one process there is none. */
  serve?(place: Place): Promise<AsyncDisposable>;
  /** Resolves once calls can be made. */
  connect(place: Place): Promise<Caller>;
}

/** Where a contender runs. */
export interface Place {
  readonly amqpUrl: string;
  readonly redisUrl: string;
}

export interface Caller extends AsyncDisposable {
  /** Resolves with the answer; rejects if there is none. */
  call(text: string): Promise<string>;
}

/** How many messages each service holds at once: twice the calls that ours runs at once, and the same for all. */
export const SERVICE_CONCURRENCY = 256;
export const PREFETCH = 2 * SERVICE_CONCURRENCY;
