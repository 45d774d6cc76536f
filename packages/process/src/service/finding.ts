/** One thing that `rockbot doctor` has looked at. */
export interface Finding {
  readonly what: string;
  /**
   * `off` is what nobody has set up, or what this machine lacks for a feature; `broken` is what was set up and does not
   * work.
   */
  readonly state: "ok" | "off" | "broken";
  /** What is so, and what it costs. */
  readonly message: string;
}
