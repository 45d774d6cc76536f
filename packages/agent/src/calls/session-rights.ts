import { ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { findGlob, type PolicyHolder } from "@rockbot/policy";
import { type Bound, grantOf, readGrant } from "../records/grant.ts";
import type { AgentDefinition } from "../words/agent-definition.ts";

export interface SessionRightsOptions {
  readonly definition: Pick<AgentDefinition, "name" | "tools" | "maker" | "grant"> | undefined;
  /** What has been defined. @default "agent" */
  readonly kind?: Bound["kind"] | undefined;
  /**
   * The grant that the run was begun with: of the parent's session, or of what a session has left behind.
   * @default nothing bounds it
   */
  readonly grant?: string | undefined;
  readonly policy: PolicyHolder | undefined;
}

/** They ask the plain agent. */
const ALL_OF_THE_CALLER: ReadonlySet<string> = new Set([
  tools.agentChat.name,
  tools.agentHelper.name,
  tools.spawnSubagent.name,
]);

/** A tool, as a decision about it needs it. */
export interface JudgedTool {
  readonly name: string;
  readonly isDangerous: boolean;
  /** It runs in this process, and no policy knows it. */
  readonly isLocal: boolean;
}

/**
 * The tools that a run may use at this moment, and the one place that says so. They are those that its definition names
 * and the maker of that may use. The grants of the definition and of the run bound them further. The policy decides at
 * each call what the present caller may use, as for any caller. So none adds a right.
 */
export class SessionRights {
  readonly #bounds: readonly Bound[];
  readonly #policy: PolicyHolder | undefined;

  constructor({ definition, kind = "agent", grant, policy }: SessionRightsOptions) {
    const own = definition === undefined ? [] : [{ kind, ...definition }, ...readGrant(definition.grant)];
    this.#bounds = [...own, ...readGrant(grant)];
    this.#policy = policy;
  }

  /** True if anything besides the policy bounds it. */
  get isBounded(): boolean {
    return this.#bounds.length > 0;
  }

  /** The grant of what the session leaves behind. @param more that bounds it besides */
  grant(more?: string): string {
    return grantOf(...this.#bounds, ...readGrant(more));
  }

  /** Why the session may not use a tool, in words; undefined if it may. */
  refusal(tool: JudgedTool): string | undefined {
    for (const bound of this.#bounds) {
      const refusal = this.#refusalBy(bound, tool);
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }

  /** @param args of the call, a JSON object @throws {ToolError} */
  check(tool: JudgedTool, args: unknown): void {
    const refusal = this.refusal(tool) ?? this.#narrowing(tool, args);
    if (refusal !== undefined)
      throw new ToolError(ToolErrorCode.Denied, refusedText(tool.name, refusal), {
        details: { reason: "definition", mayHaveRun: false },
      });
  }

  /** A maker may be allowed the tool with some arguments only. */
  #narrowing({ name: tool, isLocal, isDangerous }: JudgedTool, args: unknown): string | undefined {
    const policy = isLocal ? undefined : this.#policy?.current();
    const narrow = this.#bounds.find(({ maker: caller }) =>
      policy?.decide({ caller, tool, isDangerous }).argumentRules.some(({ validate }) => !validate(args)),
    );
    return narrow && `the maker of the ${narrow.kind} "${narrow.name}" may not use it with these arguments`;
  }

  #refusalBy(
    { kind, name, tools: globs, maker }: Bound,
    { name: tool, isLocal, isDangerous }: JudgedTool,
  ): string | undefined {
    if (ALL_OF_THE_CALLER.has(tool))
      return `it would begin a session that is not "${name}", with all tools of its caller`;
    if (findGlob(globs, tool) === undefined) return `the ${kind} "${name}" does not have this tool`;
    const isAllowed =
      isLocal ||
      this.#policy === undefined ||
      this.#policy.current().decide({ caller: maker, tool, isDangerous }).isAllowed;
    return isAllowed ? undefined : `the maker of the ${kind} "${name}" may not use it`;
  }
}

/** @param why as `refusal` has it */
export const refusedText = (tool: string, why: string): string =>
  `"${tool}" was not called: ${why}. Do without it; calling again changes nothing.`;
