import { ToolError, ToolErrorCode, tools } from "@rockbot/contracts";
import { findGlob, type PolicyHolder } from "@rockbot/policy";
import type { AgentDefinition } from "../definitions/agent-definition.ts";

export interface SessionRightsOptions {
  readonly definition: Pick<AgentDefinition, "name" | "tools" | "maker"> | undefined;
  /** What has been defined. @default "agent" */
  readonly kind?: "agent" | "wisp" | undefined;
  /** What the parent's session may use. @default all */
  readonly parent: SessionRights | undefined;
  readonly policy: PolicyHolder | undefined;
}

/** They ask the plain agent. */
const ALL_OF_THE_CALLER: ReadonlySet<string> = new Set([tools.agentChat.name, tools.agentHelper.name, tools.spawnSubagent.name]);

/** A tool, as a decision about it needs it. */
export interface JudgedTool {
  readonly name: string;
  readonly isDangerous: boolean;
  /** It runs in this process, and no policy knows it. */
  readonly isLocal: boolean;
}

/**
 * What a session may use, as it is at this moment: what its definition names, what the maker of that may use, and what the parent's session may use. What
 * the present caller may use is asked of the policy at each call, as of any caller.
 */
export class SessionRights {
  readonly #options: SessionRightsOptions;

  constructor(options: SessionRightsOptions) {
    this.#options = options;
  }

  /** Why the session may not use a tool, in words; undefined if it may. */
  refusal(tool: JudgedTool): string | undefined {
    return this.#ownRefusal(tool) ?? this.#options.parent?.refusal(tool);
  }

  /** @param args of the call, a JSON object @throws {ToolError} */
  check(tool: JudgedTool, args: unknown): void {
    const refusal = this.refusal(tool) ?? this.#narrowing(tool, args);
    if (refusal !== undefined)
      throw new ToolError(ToolErrorCode.Denied, refusedText(tool.name, refusal), { details: { reason: "definition", mayHaveRun: false } });
  }

  /** The maker may be allowed the tool with some arguments only. */
  #narrowing({ name: tool, isLocal, isDangerous }: JudgedTool, args: unknown): string | undefined {
    const { definition, kind = "agent", parent, policy } = this.#options;
    if (isLocal || policy === undefined) return undefined;
    const rules = definition === undefined ? [] : policy.current().decide({ caller: definition.maker, tool, isDangerous }).argumentRules;
    if (rules.some(({ validate }) => !validate(args))) return `the maker of the ${kind} "${definition?.name}" may not use it with these arguments`;
    return parent === undefined ? undefined : parent.#narrowing({ name: tool, isLocal, isDangerous }, args);
  }

  #ownRefusal({ name: tool, isLocal, isDangerous }: JudgedTool): string | undefined {
    const { definition, kind = "agent", policy } = this.#options;
    if (definition === undefined) return undefined;
    const { name, tools: globs, maker } = definition;
    if (ALL_OF_THE_CALLER.has(tool)) return `it would begin a session that is not "${name}", with all tools of its caller`;
    if (findGlob(globs, tool) === undefined) return `the ${kind} "${name}" does not have this tool`;
    const isAllowed = isLocal || policy === undefined || policy.current().decide({ caller: maker, tool, isDangerous }).isAllowed;
    return isAllowed ? undefined : `the maker of the ${kind} "${name}" may not use it`;
  }
}

/** @param why as `refusal` has it */
export const refusedText = (tool: string, why: string): string => `"${tool}" was not called: ${why}. Do without it; calling again changes nothing.`;
