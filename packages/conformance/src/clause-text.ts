import type { ClauseId } from "./case.ts";
import { withValues } from "./contract-values.ts";
import { clauses } from "./generated/clauses.ts";

/** The words of a clause of the service contract. */
export const clauseText = (clause: ClauseId): string => withValues(clauses[clause]);
