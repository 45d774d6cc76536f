/** A RabbitMQ of one's own: what happens to it happens to nobody else. Disposal ends it and removes its data. */
export interface TestBroker extends AsyncDisposable {
  /** With user and password. Stays the same over restarts. */
  readonly url: string;
  /**
   * The same server without what the test's set-up puts before it, for measuring: to a container's port Docker relays each
   * piece in a process of its own. Until the next restart; from this machine only.
   */
  directUrl(): Promise<string>;
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
