import { randomBytes } from "node:crypto";
import { registerSecret } from "@rockbot/base/redaction";
import { DecisionCode } from "../door/decision-code.ts";
import type { Operator } from "../door/operator.ts";
import { LoginCodes } from "./login-codes.ts";
import { ownerNamed } from "./operator.ts";

/** The user of this machine who has started the process. It ends with the process, and so does its token. */
export interface LocalOperator extends Operator {
  /** Opens the operators' door, as the tokens of the policy do. Known to this process alone. */
  readonly token: string;
  /** Each opens the console once, for this operator. */
  readonly codes: LoginCodes;
  /** Programs of the same user can open the socket, and so the console. */
  readonly decisionCode: DecisionCode;
}

/** @param clock Unix milliseconds */
export function createLocalOperator(clock: () => number = Date.now): LocalOperator {
  const token = randomBytes(32).toString("base64url");
  registerSecret(token);
  return { ...ownerNamed("local"), token, codes: new LoginCodes(clock), decisionCode: new DecisionCode(clock) };
}
