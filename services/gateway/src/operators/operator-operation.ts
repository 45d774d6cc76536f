import type { OperatorRight as Right } from "@rockbot/console/api";

/** One request that operators may send. */
export interface OperatorOperation {
  readonly method: "get" | "post";
  readonly path: string;
  readonly summary: string;
  /** The right that it needs; `any` is for every operator. */
  readonly right: Right | "any";
  /** JSON Schemas of what its query may have. */
  readonly query?: Readonly<Record<string, object>>;
  /** JSON Schema of the answer. */
  readonly answer?: object;
}
