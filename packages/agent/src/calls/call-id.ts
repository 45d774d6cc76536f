import { hash } from "node:crypto";

/** Where a call stands in its conversation. */
export interface CallPlace {
  readonly caller: string;
  readonly sessionId: string;
  readonly turnId: string;
  /** Which answer of the model asks for it, from 0. */
  readonly iteration: number;
  /** Which of the calls of that answer it is, from 0. */
  readonly index: number;
}

/** The id of a call, the same whenever its turn is taken up. */
export const callIdOf = ({ caller, sessionId, turnId, iteration, index }: CallPlace): string =>
  hash("sha256", JSON.stringify([caller, sessionId, turnId, iteration, index]), "hex").slice(0, 32);
