import { type Agent, type AgentPlugin, whiteboard } from "@rockbot/agent";
import type { Bus, Logger } from "@rockbot/bus";
import type { WorkingMemory } from "@rockbot/memory";
import type { Tool } from "@rockbot/tools";
import type { OnUnasked } from "../chat/agent-chat.ts";
import { agentHelper, HelperRun } from "./agent-helper.ts";
import { HelperMessages } from "./helper-messages.ts";
import { HelperRecords } from "./helper-records.ts";
import { helpers } from "./helpers-plugin.ts";

/** Parts of the agent that helpers use. */
export interface HelpingOptions {
  readonly memory: Pick<WorkingMemory, "of">;
  /** The timeout of the session's turn with a helper's result. */
  readonly turnTimeoutMs: number;
  readonly log: Logger;
}

/**
 * Helpers of sessions, and the whiteboards that they share: what an agent needs for them, and the tool that runs one.
 */
export class Helping {
  readonly plugins: readonly AgentPlugin[];
  readonly #records: HelperRecords;
  readonly #messages: HelperMessages;
  #run: HelperRun | undefined;

  constructor(bus: Bus, { memory, turnTimeoutMs, log }: HelpingOptions) {
    this.#records = new HelperRecords(memory);
    this.#messages = new HelperMessages(bus, log);
    const tellFailure: HelperRun["tellFailure"] = async (...of) => this.#run?.tellFailure(...of);
    this.plugins = [
      whiteboard(memory),
      helpers({ records: this.#records, messages: this.#messages, turnTimeoutMs, tellFailure }),
    ];
  }

  tools(agent: Pick<Agent, "runTurn" | "isToBlame">, onUnasked: OnUnasked): readonly Tool[] {
    this.#run = new HelperRun(agent, { records: this.#records, messages: this.#messages, onUnasked });
    return [agentHelper(agent, this.#run)];
  }
}
