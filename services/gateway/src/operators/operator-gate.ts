import type { OperatorRight as Right } from "@rockbot/console/api";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { MiddlewareHandler } from "hono";
import type { GatewayEnv } from "../door/guard.ts";
import type { Operator } from "../door/operator.ts";
import { operatorOperations } from "./operator-api.ts";
import type { OperatorOperation } from "./operator-operation.ts";
import { noSuchOperatorPath } from "./operator-routes.ts";

/**
 * The one place that checks rights. A request that is none of `operatorOperations` does not go further, whatever lies
 * behind, so there is no operation without a right.
 */
export function operatorGate(): MiddlewareHandler<GatewayEnv> {
  const patterns = operatorOperations.map((operation) => [patternOf(operation), operation] as const);
  return async (c, next) => {
    // The path as it was sent: what is decoded later can name no other operation.
    const asked = `${c.req.method === "HEAD" ? "GET" : c.req.method} ${new URL(c.req.raw.url).pathname}`;
    const operations = patterns.filter(([pattern]) => pattern.test(asked)).map(([, operation]) => operation);
    if (operations.length === 0) {
      c.res = noSuchOperatorPath();
      return;
    }
    for (const { right } of operations) checkRight(c.get("operator"), right);
    await next();
  };
}

const patternOf = ({ method, path }: OperatorOperation): RegExp =>
  new RegExp(`^${method.toUpperCase()} ${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`);

/** @throws {ToolError} `denied`, in words */
export function checkRight({ name, may }: Operator, right: Right | "any"): void {
  if (right === "any" || may.has(right)) return;
  const has = may.size === 0 ? "no right" : [...may].join(", ");
  throw new ToolError(
    ToolErrorCode.Denied,
    `Cannot answer the request: it needs the right "${right}", and the operator "${name}" has ${has}. The policy gives rights: "may" of the operator`,
  );
}
