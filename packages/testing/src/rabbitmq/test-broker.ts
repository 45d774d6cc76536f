import type { Measurable } from "../machine/measurable.ts";

/** A RabbitMQ of one's own: what happens to it happens to nobody else. Disposal ends it and removes its data. */
export interface TestBroker extends Measurable, AsyncDisposable {
  /** The address with user and password. Stays the same over restarts. */
  readonly url: string;
  /** Host and port of its own metrics, for Prometheus; where the broker was started with `hasManagement`. */
  metricsAddress(): Promise<string>;
  /** Its management API, with user and password; where the broker was started with `hasManagement`. */
  managementUrl(): Promise<string>;
  /** SIGKILL: no goodbye to clients, nothing flushed. */
  kill(): Promise<void>;
  /** After `kill`: starts it again on the same port and data; resolves once it accepts connections. */
  restart(): Promise<void>;
  /** Stops all its processes in their tracks: connections stay open and nothing answers. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Runs `rabbitmqctl`. @returns its output */
  ctl(...args: string[]): Promise<string>;
  /** Adds what the definitions, an object for JSON, say. */
  importDefinitions(definitions: object): Promise<void>;
}

export interface StartOwnBrokerOptions {
  /** True to load the management plugin, which makes its start a second longer. @default false */
  readonly hasManagement?: boolean | undefined;
  /**
   * True if many tests share it: it then gets the processor first where the machine allows it, and its quorum queues,
   * mostly idle, count their messages once a minute only. @default false
   */
  readonly isShared?: boolean | undefined;
}
