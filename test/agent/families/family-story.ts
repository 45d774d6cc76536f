import type { FamilyTurn } from "@rockbot/contracts";
import type { ModelServerRequest, ModelStep } from "@rockbot/testing";

/*
 * A story of a family. A session has its coordinator work. That has two agents work side by side: the scout asks an agent of another maker, the miner runs a
 * wisp of five steps. Both write on the whiteboard, which the coordinator reads.
 */

const WORKERS = ["scout", "miner"];
const WISP_STEPS = 5;

/**
 * The story's agents in the form of the agents' file. @param maker who calls the session, so that all may use the same
 */
export const storyAgents = (maker: string) => ({
  coordinator: {
    playbook: "Have your agents do the work.",
    tools: ["agent__*", "effect", "invoke_agent", "spawn_wisps"],
    maker,
    maxTokens: 200_000,
  },
  scout: { playbook: "Ask the agent elsewhere.", tools: ["effect", "invoke_agent"], maker },
  miner: { playbook: "Work in steps.", tools: ["effect", "spawn_wisps"], maker },
});

/** What the session answers, if all has gone well. */
export const storyAnswer = (task: string): string => `${task}: scout heard "You said: ${task}", miner made step 4`;

/** What the tool `effect` is given in the story, in order of name. */
export const storyEffects = (task: string): readonly string[] => [
  `${task} scout`,
  ...Array.from({ length: WISP_STEPS }, (_, step) => `${task} step ${step}`),
];

/** The family as a tree: its agents, each with its tools and how often it has called them. */
export const treeOf = (turns: readonly FamilyTurn[]): readonly string[] =>
  turns.map(({ agent = "session", depth, state, tools }) => {
    const used = tools.map(({ tool, count }) => `${tool} ${count}`).toSorted();
    return `${"  ".repeat(depth)}${agent} ${state}: ${used.join(", ")}`;
  });

const call = (name: string, args: object): ModelStep => ({ toolCalls: [{ name, arguments: args }], delayMs: 50 });
const report = (content: string): ModelStep =>
  call("agent__final_report", { status: "success", format: "text", content });
const calls = (...made: readonly (readonly [string, object])[]): ModelStep => ({
  toolCalls: made.map(([name, args]) => ({ name, arguments: args })),
  delayMs: 50,
});

/** The model of each session, by how far it is. A session starts by "Start {task}". */
export function storyStep({ messages }: ModelServerRequest): ModelStep {
  const name = /^You are (\w+)/.exec(messages[0]?.text ?? "")?.[1] ?? "";
  const task = /task-\d+-\d+/.exec(messages.findLast(({ role }) => role === "user")?.text ?? "")?.[0] ?? "";
  const results = messages.filter(({ role }) => role === "tool").map(({ text }) => text);
  const part = parts[name];
  if (part !== undefined) return part(task, results);
  const said = /heard ".*?", miner made step \d/.exec(results[0] ?? "")?.[0];
  return results.length === 0
    ? call("agent__coordinator", { prompt: `Coordinate ${task}` })
    : { text: `${task}: scout ${said ?? results[0]}` };
}

const parts: Readonly<Record<string, (task: string, results: readonly string[]) => ModelStep>> = {
  coordinator(task, results) {
    if (results.length === 0)
      return calls(...WORKERS.map((name) => [`agent__${name}`, { prompt: `Work on ${task}` }] as const));
    if (results.length === WORKERS.length) return calls(...WORKERS.map((key) => ["whiteboard_read", { key }] as const));
    const [scout, miner] = results.slice(WORKERS.length);
    return report(
      `scout ${/heard ".*?"/.exec(scout ?? "")?.[0] ?? scout}, miner ${/made step \d/.exec(miner ?? "")?.[0] ?? miner}`,
    );
  },
  scout(task, [effect, answer, written]) {
    if (effect === undefined) return call("effect", { what: `${task} scout` });
    if (answer === undefined) return call("invoke_agent", { agent_name: "echo", message: task });
    const heard = /You said: [\w-]+/.exec(answer)?.[0] ?? answer;
    return written === undefined
      ? call("whiteboard_write", { key: "scout", content: `heard "${heard}"` })
      : report("It is on the whiteboard.");
  },
  miner(task, [wisp, written]) {
    const steps = storyEffects(task).slice(1);
    const chain = steps.map((what, index) => ({
      id: `s${index}`,
      tool: "effect",
      arguments: { what },
      after: index === 0 ? [] : [`s${index - 1}`],
    }));
    if (wisp === undefined)
      return call("spawn_wisps", {
        definitions: [{ description: task, steps: chain, result: `{{/steps/s${WISP_STEPS - 1}/text}}` }],
      });
    const made = /did task\S+ (step \d)/.exec(wisp)?.[1];
    return written === undefined
      ? call("whiteboard_write", { key: "miner", content: `made ${made ?? wisp}` })
      : report("It is on the whiteboard.");
  },
};
