import type { Model, ModelRequest } from "@rockbot/llm";
import { scriptedModel, type TestStep } from "./test-model.ts";
import type { AgentDefinition, DefinitionReader } from "./words/agent-definition.ts";

/** A definition for tests: all tools, of the agent itself. */
export const testDefinition = (name: string, more: Partial<AgentDefinition> = {}): AgentDefinition => ({
  name,
  description: `The agent ${name}, for tests.`,
  playbook: `Playbook of ${name}.`,
  tools: ["*"],
  maker: "agent",
  isUntrusted: false,
  hash: name,
  ...more,
});

/** Definitions that everybody sees. @param session what each session is */
export const definitionsOf = (all: readonly AgentDefinition[], session?: AgentDefinition): DefinitionReader => ({
  visibleTo: async () => all,
  ofSession: async (_caller, sessionId) => (sessionId.startsWith("sub-") ? undefined : session),
});

/** The agent that a model is asked for: its system text names it, unless the name is the plain one. */
const nameIn = ({ messages }: ModelRequest): string =>
  /^You are (\S+),/.exec(messages[0]?.content ?? "")?.[1] ?? "agent";

/** How often the model has answered in the conversation. */
const answersIn = ({ messages }: ModelRequest): number => messages.filter(({ role }) => role === "assistant").length;

/**
 * A model that plays a script for each agent, by how far its conversation is. After a script it repeats its last step.
 */
export function modelOfAgents(scripts: Readonly<Record<string, readonly TestStep[]>>): {
  readonly model: Model;
  readonly requests: ModelRequest[];
} {
  return scriptedModel([
    async (request) => {
      const steps = scripts[nameIn(request)] ?? [];
      const step = steps[Math.min(answersIn(request), steps.length - 1)];
      if (step === undefined) throw new Error(`the test has no script for "${nameIn(request)}"`);
      return typeof step === "function" ? await step(request) : step;
    },
  ]);
}
