import type { Logger } from "@rockbot/bus";
import type { OperatorSight as Sight } from "@rockbot/console/api";
import type { AuditLog } from "@rockbot/records/audit";
import type { Operator } from "../door/operator.ts";

/**
 * Tells whether the operator may see a kind of what belongs to others. If so, the reading has a line in the audit log
 * by then.
 * @param of the id of what is read: of a call, or of a session
 * @param isAsked true if the policy asks the operator about it, who sees it then
 */
export type See = (sight: Sight, of: string, isAsked?: boolean) => Promise<boolean>;

/** The answers for one operator. */
export const createSee =
  (operator: Operator, { audit, log }: { readonly audit: AuditLog | undefined; readonly log: Logger }): See =>
  async (sight, of, isAsked = false) => {
    if (!isAsked && !operator.sees.has(sight)) return false;
    const action = `read ${sight}`;
    log.info({ operator: operator.name, action, of }, "an operator reads what belongs to others");
    await audit?.write({ event: "operator", service: "gateway", operator: operator.name, action, of, outcome: "ok" });
    return true;
  };
