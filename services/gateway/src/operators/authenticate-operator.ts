import { ToolError } from "@rockbot/contracts";
import { createTokenCheck } from "@rockbot/edge/inbound";
import { operatorTokens, type PolicyHolder } from "@rockbot/policy";
import type { Operator } from "../door/operator.ts";
import { HttpErrorCode } from "../http/http-error.ts";
import type { LocalOperator } from "./local-operator.ts";
import { createOperator } from "./operator.ts";

export interface OperatorsOptions {
  /** The operators with tokens. The policy of now holds for the next request. */
  readonly policy: Pick<PolicyHolder, "current">;
  /** A further one, for this process's life. @default nobody */
  readonly local?: LocalOperator | undefined;
}

/** Tells an operator by a token. @throws {ToolError} `unauthorized`, in words */
export type AuthenticateOperator = (token: string | undefined) => Operator;

/** Tells whether any token or key opens the operators' door. */
export const hasOperators = ({ policy, local }: OperatorsOptions): boolean =>
  local !== undefined ||
  operatorTokens(policy.current().document).size > 0 ||
  policy.current().document.operators.some(({ keys = [] }) => keys.length > 0);

export function createOperatorAuthenticator({ policy, local }: OperatorsOptions): AuthenticateOperator {
  const isLocal = createTokenCheck(() => local?.token);
  return (token) => {
    if (token === undefined) throw unauthorized("no bearer token came with it");
    if (local !== undefined && isLocal(token)) return local;
    const { document } = policy.current();
    const found = operatorTokens(document).find(token, Date.now());
    const entry = document.operators.find(({ name }) => name === found?.holder);
    if (found === undefined || entry === undefined) throw unauthorized("its bearer token is no operator's");
    if (found.isExpired) throw unauthorized("its bearer token has expired");
    return createOperator(entry);
  };
}

const unauthorized = (why: string): ToolError =>
  new ToolError(
    HttpErrorCode.Unauthorized,
    `Cannot answer the request: ${why}. Send "Authorization: Bearer TOKEN" with an operator's token`,
  );
