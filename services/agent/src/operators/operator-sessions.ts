import type { Logger } from "@rockbot/bus";
import { ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { sessionNamespace } from "@rockbot/memory";
import type { PolicyHolder } from "@rockbot/policy";
import type { AuditLog } from "@rockbot/records/audit";
import type { Tool, ToolContext } from "@rockbot/tools";

export interface OperatorSessionsParts {
  /** The service's name, in the audit log. */
  readonly service: string;
  /** Says which operators see transcripts. @default none does */
  readonly policy: Pick<PolicyHolder, "current"> | undefined;
  /** The operator who has started the process, and sees all. @default nobody */
  readonly localOperator?: { readonly name: string } | undefined;
  readonly audit: Pick<AuditLog, "write"> | undefined;
  readonly log: Logger;
}

type Check = (context: Pick<ToolContext, "operator" | "sessionId">, asked: string) => Promise<void>;

/**
 * Who goes on with a session can ask the agent what was said in it. So an operator names its own ones, which begin with
 * its name, and those of others only if it may read transcripts. The rule holds for all calls that an operator leads to,
 * such as those of a wisp. Calls without an operator are the caller's own.
 * @param tool one that tells what was said in the sessions that its arguments name
 */
export function forOperators(tool: Tool, parts: OperatorSessionsParts): Tool {
  const check = sessionCheck(parts);
  return {
    ...tool,
    executor: {
      async execute(request, context) {
        if (context.operator !== undefined)
          for (const asked of sessionsIn(tool.definition.name, context.input)) await check(context, asked);
        return tool.executor.execute(request, context);
      },
    },
  };
}

/** Stands for all sessions of the caller, where they are listed. */
const ALL = "all";

function sessionsIn(toolName: string, input: unknown): readonly string[] {
  const { session_id: asked, root_session_id: root } = (input ?? {}) as Readonly<Record<string, unknown>>;
  const named = [asked, root].filter((each) => typeof each === "string");
  return named.length === 0 && toolName === tools.agentFamily.name ? [ALL] : [...new Set(named)];
}

function sessionCheck({ service, policy, localOperator, audit, log }: OperatorSessionsParts): Check {
  const seesTranscripts = (operator: string): boolean =>
    operator === localOperator?.name ||
    policy
      ?.current()
      .document.operators.find(({ name }) => name === operator)
      ?.sees.includes("transcripts") === true;
  return async ({ operator = "", sessionId: here }, asked) => {
    const own = `operator:${operator}:`;
    // A turn calls on behalf of its own session. The gateway takes no other session from an operator.
    if (asked.startsWith(own) || here === sessionNamespace(asked)) return;
    if (!seesTranscripts(operator))
      throw new ToolError(
        ToolErrorCode.Denied,
        `Cannot go on with the session: "${operator}" does not see transcripts. Name a session that begins with "${own}", or add transcripts to "sees" of the operator in the policy`,
      );
    const action = "read transcripts";
    log.info({ operator, action, of: asked }, "an operator reads what belongs to others");
    await audit?.write({ event: "operator", service, operator, action, of: asked, outcome: "ok" });
  };
}
