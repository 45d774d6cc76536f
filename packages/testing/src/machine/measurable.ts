/** A server that can be measured by itself. */
export interface Measurable {
  /**
   * The server without what the test's set-up puts before it, for measuring: to a container's port Docker relays each
   * piece in a process of its own. Until the next restart; from this machine only.
   */
  directUrl(): Promise<string>;
}
