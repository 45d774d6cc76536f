import { operatorOperations } from "../../../services/gateway/src/operators/operator-api.ts";
import { code, fillPage, table } from "../fill-page.ts";

/** `docs/reference/operators.md`: the requests of operators. */
export function operatorsReference(): Promise<string> {
  const rows = operatorOperations.map(({ method, path, summary, right, query = {} }) => [
    code(`${method.toUpperCase()} ${path}`),
    summary,
    code(right),
    Object.keys(query).map(code).join(", "),
  ]);
  return fillPage("operators", "services/gateway/src/operators/operator-api.ts", {
    operations: table(["request", "what it does", "right", "query"], rows),
  });
}
