import type { Logger } from "@rockbot/bus";
import { ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { PolicyHolder } from "@rockbot/policy";
import { isChildSession } from "../family/children.ts";
import type { FamilyTurnRequest } from "../family/family-place.ts";
import { mayCallAgent } from "../family/may-call-agent.ts";
import type { StoredAnswer } from "../store/turn-store.ts";
import type { AgentDefinition, DefinitionReader } from "../words/agent-definition.ts";
import type { SessionKey } from "../words/session.ts";

export interface SessionDefinitionsOptions {
  readonly definitions: DefinitionReader | undefined;
  readonly policy: PolicyHolder | undefined;
  readonly log: Logger;
}

export interface TurnDefinitions {
  /** The definitions that the caller sees, one of each name. */
  readonly visible: readonly AgentDefinition[];
  /** What the turn begins as; undefined as the plain agent. */
  readonly first: AgentDefinition | undefined;
  /** One of them as it is now. @throws {ToolError} if the caller does not see it any more, or this is not known */
  readonly current: (definition: AgentDefinition) => Promise<AgentDefinition>;
  /** Has later turns of the session be a definition. Without its store they are what they were. */
  readonly remember: (definition: AgentDefinition) => Promise<void>;
}

/** The definitions that turns have, as their reader has them. */
export class SessionDefinitions {
  readonly #definitions: DefinitionReader | undefined;
  readonly #policy: PolicyHolder | undefined;
  readonly #log: Logger;

  constructor({ definitions, policy, log }: SessionDefinitionsOptions) {
    this.#definitions = definitions;
    this.#policy = policy;
    this.#log = log;
  }

  /**
   * What a turn's caller sees, and what the turn begins as.
   * @param begun its first answer, if it is taken up: it stays what it was then
   * @throws {ToolError} if the message cannot be taken
   */
  async of(
    { caller, sessionId, definition, family, origin }: FamilyTurnRequest,
    begun: StoredAnswer | undefined,
  ): Promise<TurnDefinitions> {
    const definitions = this.#definitions;
    const isNew = begun === undefined && definition === undefined;
    const [visible = [], switchedTo] = await Promise.all([
      family?.visible ??
        definitions?.visibleTo(caller).catch((error: unknown) => {
          if (begun !== undefined) throw error; // it may have called some
          this.#log.warn({ error: String(error) }, "a turn begins without the agents that it could call");
          return undefined;
        }),
      isNew ? definitions?.ofSession(caller, sessionId) : undefined,
    ]).catch((cause: unknown) => {
      throw new ToolError(
        ToolErrorCode.Unavailable,
        "The message was not taken: the definitions of agents cannot be read now. Send it again later.",
        {
          cause,
        },
      );
    });
    const isDenied = typeof switchedTo === "object" && !mayCallAgent(this.#policy, caller, switchedTo.name);
    const ofSession = isDenied ? "gone" : switchedTo;
    // The plain agent would run the task with more tools than those had who scheduled it.
    if (
      isNew &&
      origin === "schedule" &&
      (ofSession === "gone" || (ofSession === undefined && isChildSession(sessionId)))
    )
      throw new ToolError(
        ToolErrorCode.Denied,
        "The task was not run: its agent was deleted, or its caller may not use it any more. Delete the task, or have another schedule it.",
        { details: { reason: "definition", mayHaveRun: false } },
      );
    const byName = new Map(visible.toReversed().map((each) => [each.name, each]));
    const switched = ofSession === "gone" ? undefined : ofSession;
    return {
      visible: [...byName.values()],
      first: begun === undefined ? (definition ?? switched) : begun.definition,
      current: (seen) => this.#lookUp(caller, seen),
      remember: (next) => this.#rememberFor({ caller, sessionId }, next),
    };
  }

  async #lookUp(caller: string, definition: AgentDefinition): Promise<AgentDefinition> {
    const { name } = definition;
    const missing = (code: ToolErrorCode, why: string, cause?: unknown): ToolError =>
      new ToolError(code, `The agent "${name}" does not go on with this: ${why}`, {
        details: { mayHaveRun: false },
        cause,
      });
    const now = await (this.#definitions?.currentOf?.(caller, definition) ?? Promise.resolve(definition)).catch(
      (cause: unknown) => {
        throw missing(
          ToolErrorCode.Unavailable,
          "the definitions of agents cannot be read now. Try again later.",
          cause,
        );
      },
    );
    if (now?.name !== name)
      throw missing(ToolErrorCode.Denied, `it is deleted, or is not shared with "${caller}" any more. Do without it.`);
    return now;
  }

  async #rememberFor({ caller, sessionId }: SessionKey, definition: AgentDefinition): Promise<void> {
    await this.#definitions?.switchSession?.(caller, sessionId, definition).catch((error: unknown) => {
      this.#log.warn({ agent: definition.name, error: String(error) }, "a session was handed over for one turn only");
    });
  }
}
