import { type AgentDefinition, createAgent, type TurnRequest } from "@rockbot/agent";
import { called, definitionsOf, said, scriptedModel, type TestStep, testRequest } from "@rockbot/agent/test-kit";
import { createMemoryBus } from "@rockbot/bus";
import type { AgentEvent, ToolSpawnWispsOutput } from "@rockbot/contracts";
import { createWorkingMemory } from "@rockbot/memory";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { serveTools, type Tool } from "@rockbot/tools";
import { wisps } from "./wisps.ts";

export interface WispScene {
  readonly tools?: readonly Tool[];
  /** What the model answers to questions of steps, in order. */
  readonly answers?: readonly TestStep[];
  readonly policy?: string;
  /** What the session is, and what others it sees. */
  readonly as?: AgentDefinition;
  readonly others?: readonly AgentDefinition[];
  readonly more?: Partial<TurnRequest>;
  readonly maxParallel?: number;
  /** What the model calls. @default spawn_wisps with the definitions */
  readonly first?: TestStep;
}

/** A turn whose model runs wisps and ends: what the model read of them, and the summary that working memory has. */
export async function spawn(
  definitions: unknown,
  { tools = [], answers = [], policy: rules, as, others = [], more, maxParallel, first }: WispScene = {},
) {
  await using started = new AsyncDisposableStack();
  const bus = started.use(createMemoryBus());
  const policy = rules === undefined ? undefined : holdPolicy(createPolicy(await readPolicy(rules, "test")));
  started.use(await serveTools(bus, { tools: [...tools] }, { service: "tests", policy }));
  const memory = started.use(createWorkingMemory());
  let asked = 0;
  const call = first ?? called(["spawn_wisps", { definitions }]);
  const { model, requests } = scriptedModel([
    (request) => {
      if (request.tools === undefined) {
        const step = answers[asked++] ?? said("an answer");
        return typeof step === "function" ? step(request) : step;
      }
      if (!/^You are (?:an assistant|robot,)/.test(request.messages[0]?.content ?? "")) return said("by another agent");
      return request.messages.some(({ role }) => role === "tool")
        ? said("done")
        : typeof call === "function"
          ? call(request)
          : call;
    },
  ]);
  const agent = started.use(
    await createAgent({ bus, model, memory, policy, definitions: definitionsOf(others, as) })
      .use(wisps({ memory, maxParallel }))
      .start(),
  );
  const events: AgentEvent[] = [];
  const result = await agent.runTurn({ ...testRequest("Go."), ...more, onEvent: (event) => events.push(event) });
  const own = memory.of(more?.caller ?? "agent");
  const [summary] = (await own.list("wisp/")).filter(({ key }) => key.endsWith("/summary"));
  const text = requests.at(-1)?.messages.findLast(({ role }) => role === "tool")?.content ?? "";
  const read =
    summary === undefined
      ? undefined
      : (JSON.parse((await own.get(summary.key))?.value ?? "{}") as ToolSpawnWispsOutput);
  const outputs = await Promise.all((await own.list("wisp/wisp-")).map(async ({ key }) => (await own.get(key))?.value));
  const questions = requests
    .filter((request) => request.tools === undefined)
    .map(({ messages }) => messages.at(-1)?.content ?? "");
  return { result, text, batch: read, wisps: read?.wisps ?? [], outputs, questions, requests, events };
}

/** One pipeline. */
export const wisp = (steps: readonly object[], more: object = {}) => ({ description: "a test", steps, ...more });
