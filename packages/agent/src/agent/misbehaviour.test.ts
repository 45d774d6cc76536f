import { createMemoryBus } from "@rockbot/bus";
import type { AgentEvent } from "@rockbot/contracts";
import { createModel } from "@rockbot/llm";
import { modelMisbehaviours, startModelServer } from "@rockbot/testing";
import { serveTools } from "@rockbot/tools";
import { expect, test } from "vitest";
import { testRequest, testTool } from "../test-turn.ts";
import { createAgent } from "./create-agent.ts";

/** The loop's own bound, where a misbehaviour names none: 12 answers, of which each may make 32 calls. */
const MOST_RUNS = 12 * 32;

// Both protocols go through the same loop: their adapters are tried in packages/llm.
const shown = modelMisbehaviours({ name: "take_note", arguments: { text: "tea" } }).filter(({ protocols }) =>
  protocols.includes("openai"),
);

test.each(shown)(
  "with a model that $name, a turn ends in words, and no tool runs that was not called",
  async ({ script, mostRuns = MOST_RUNS }) => {
    await using server = await startModelServer(script(), { contextTokens: 2_000_000 });
    const { url, apiKey, model: name } = server;
    const model = createModel({ url, apiKey, model: name, attempts: 1, idleMs: 200 });
    let runs = 0;
    const note = testTool("take_note", async () => `noted ${++runs}`);
    await using bus = createMemoryBus();
    await using _service = await serveTools(bus, { tools: [note] }, { service: "tests" });
    await using agent = await createAgent({ bus, model }).start();
    const events: AgentEvent[] = [];

    const { text, finish } = await agent.runTurn(
      testRequest("Take a note.", { onEvent: (event) => void events.push(event) }),
    );

    expect(text.trim()).not.toBe("");
    expect(["stop", "limit", "length", "refused", "failed"]).toContain(finish);
    expect(events.filter(({ kind }) => kind === "turn_finished")).toHaveLength(1);
    expect(runs).toBeLessThanOrEqual(mostRuns);
    expect(server.requests.flatMap(({ refused }) => refused ?? [])).toEqual([]);
  },
);
