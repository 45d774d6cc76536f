/** One thing that `rockbot doctor` has looked at. */
export interface Finding {
  readonly what: string;
  /** `broken` is what RockBot cannot run without; `missing` costs a feature. */
  readonly state: "ok" | "missing" | "broken";
  /** What is so, and what it costs. */
  readonly message: string;
}
