import type { Examiner } from "./examiner.ts";
import type { clauses } from "./generated/clauses.ts";

/** The id of a clause of the service contract. */
export type ClauseId = keyof typeof clauses;

/** One thing that a service or a caller is tried for. */
export interface Case<Subject = Examiner> {
  /** The fact that is so if the clause is kept: a sentence. */
  readonly name: string;
  readonly clause: ClauseId;
  /** @throws {Breach} if the clause is broken @throws {NotTried} if nothing here can show it */
  run(subject: Subject): Promise<void> | void;
}

/** The result of one case. */
export interface CaseResult {
  readonly name: string;
  readonly clause: ClauseId;
  readonly outcome: "kept" | "broken" | "not tried";
  /** The finding, unless the clause was kept. */
  readonly why?: string | undefined;
}
