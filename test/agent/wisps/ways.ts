import { setTimeout } from "node:timers/promises";
import { createMemoryBus } from "@rockbot/bus";
import { newId, type ToolDefinition, type Validator } from "@rockbot/contracts";
import { createWorkingMemory } from "@rockbot/memory";
import { defineTool, serveTools, type Tool, type ToolResult } from "@rockbot/tools";
import { type AgentDefinition, createAgent, type Model, type ModelAnswer, wisps } from "rockbot/agent";
import { estimateTokenCount } from "tokenx";

/** Pages that the work reads. */
export const PAGES = 5;
/** About what a page of news has. */
const PAGE = "The river has risen by four centimetres since the morning, and the ferry goes again. ".repeat(50);
const PAGE_URL = (index: number): string => `https://news.example/2026/11/26/${index}`;

/** What one way of doing the work took. */
export interface Done {
  readonly way: string;
  /** Calls of the work's own tools. */
  readonly calls: number;
  /** Questions to the model. */
  readonly questions: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly ms: number;
}

type Call = readonly [name: string, args: object];
type Script = readonly (readonly Call[])[];

const listCall: Call = ["news_list", { day: "2026-11-26" }];
const readCall = (url: string): Call => ["news_read", { url }];
const fileCall = (titles: unknown): Call => ["news_file", { titles }];
const titles = Array.from({ length: PAGES }, (_, index) => `News ${index}`);
const reads = Array.from({ length: PAGES }, (_, index) => readCall(PAGE_URL(index)));
const batchCall: Call = ["agent__batch", { calls: reads.map(([tool, args]) => ({ tool, arguments: args })) }];
const wispCall: Call = [
  "spawn_wisps",
  {
    definitions: [
      {
        description: "File the news of the day.",
        steps: [
          { id: "list", tool: "news_list", arguments: { day: "2026-11-26" } },
          {
            id: "read",
            tool: "news_read",
            for_each: { items: "{{/steps/list/data/pages}}", max: 10 },
            arguments: { url: "{{/item/url}}" },
          },
          { id: "file", tool: "news_file", arguments: { titles: "{{/steps/read/data}}" } },
        ],
        result: "{{/steps/file/text}}",
      },
    ],
  },
];

/** The same work in each way: what the model calls, answer by answer. */
const ways: Readonly<Record<string, Script>> = {
  "a model loop, one call an answer": [[listCall], ...reads.map((read) => [read]), [fileCall(titles)]],
  "a model loop, calls side by side": [[listCall], reads, [fileCall(titles)]],
  "`agent__batch`": [[listCall], [batchCall], [fileCall(titles)]],
  "a wisp": [[wispCall]],
};

/** An agent of whom all ways ask the same: one that has batches, too. */
const clerk: AgentDefinition = {
  name: "clerk",
  description: "Files news.",
  playbook: "File the news of the day.",
  tools: ["*"],
  maker: "agent",
  isUntrusted: false,
  hash: "1",
};

function newsTools(counted: () => void): readonly Tool[] {
  const tool = (
    name: string,
    description: string,
    run: (input: { readonly url?: string }) => ToolResult<object>,
  ): Tool => {
    const definition: ToolDefinition = {
      name,
      description,
      inputSchema: { type: "object" },
      readOnly: name !== "news_file",
      idempotent: true,
      validateInput: ((value: unknown) => typeof value === "object") as Validator<unknown>,
    };
    return defineTool(definition, async (input) => {
      counted();
      return run(input as { readonly url?: string });
    });
  };
  return [
    tool("news_list", "List the news of a day.", () => {
      const pages = titles.map((title, index) => ({ title, url: PAGE_URL(index) }));
      return { content: JSON.stringify({ pages }), structured: { pages } };
    }),
    tool("news_read", "Read one page of news.", ({ url = "" }) => {
      const title = titles[Number(url.at(-1))] ?? "";
      return { content: `# ${title}\n\n${PAGE}`, structured: { title } };
    }),
    tool("news_file", "File titles of news.", () => ({ content: `Filed ${PAGES} titles.` })),
  ];
}

/** A model that plays a script. Each answer takes the same time, and counts its tokens by its texts. */
function scripted(script: Script, modelMs: number, asked: () => void): Model {
  return {
    id: "scripted",
    behavior: {
      chunkingThreshold: 64_000,
      contextTokens: 200_000,
      maxIterations: 20,
      usesTextToolCalls: false,
      nudgesOnProse: false,
    },
    async answer({ messages, tools = [] }): Promise<ModelAnswer> {
      asked();
      await setTimeout(modelMs);
      const step = messages.filter(({ role }) => role === "assistant").length;
      const calls = script[step] ?? [
        ["agent__final_report", { status: "success", format: "text", content: `Filed ${PAGES} titles.` }] as const,
      ];
      const toolCalls = calls.map(([name, args], index) => ({
        id: `c${step}_${index}`,
        name,
        arguments: JSON.stringify(args),
      }));
      const usage = {
        inputTokens: estimateTokenCount(JSON.stringify([messages, tools])),
        outputTokens: estimateTokenCount(JSON.stringify(toolCalls)),
      };
      return { text: "", toolCalls, finish: "tool_calls", usage };
    },
  };
}

/** Does the work in each way. @param modelMs what an answer of the model takes */
export async function doInEachWay(modelMs: number): Promise<readonly Done[]> {
  const all: Done[] = [];
  for (const [way, script] of Object.entries(ways)) {
    let calls = 0;
    let questions = 0;
    await using bus = createMemoryBus();
    await using _news = await serveTools(bus, { tools: newsTools(() => calls++) }, { service: "news" });
    await using memory = createWorkingMemory();
    const model = scripted(script, modelMs, () => questions++);
    const definitions = { visibleTo: async () => [], ofSession: async () => clerk };
    await using agent = await createAgent({ bus, model, memory, definitions }).use(wisps({ memory })).start();
    const startedAt = performance.now();
    const { text, usage } = await agent.runTurn({
      caller: "agent",
      sessionId: newId(),
      turnId: newId(),
      message: "File the news of the day.",
      signal: new AbortController().signal,
      deadline: startedAt + 120_000,
    });
    if (text !== `Filed ${PAGES} titles.`) throw new Error(`${way} ended with: ${text}`);
    all.push({
      way,
      calls,
      questions,
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      ms: performance.now() - startedAt,
    });
  }
  return all;
}
