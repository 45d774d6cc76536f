import { type FaultAnswer, faultServer, httpFaults, startFaultHttpServer } from "@rockbot/testing";
import { expect, test } from "vitest";
import { countOutcomes, type SettledCall, settleCall } from "./agent/settle-calls.ts";
import { atScale, record } from "./figures.ts";
import {
  checkOutcomes,
  compared,
  DEADLINE_MS,
  durations,
  durationsWhile,
  type McpFault,
  untilBack,
} from "./mcp-faults.ts";
import { openMcpScene } from "./mcp-scene.ts";

/** The number of each kind of fault. */
const FAULTS = atScale(1, 64);

const webFaults: Readonly<Record<string, McpFault & { readonly answer: FaultAnswer }>> = {
  "401": { answer: httpFaults.status(401), outcome: /^unavailable$/ },
  "404": { answer: httpFaults.status(404), outcome: /^unavailable$/ },
  "429": { answer: httpFaults.status(429, { "retry-after": "1" }), outcome: /^rate_limited$/ },
  "500": { answer: httpFaults.status(500), outcome: /^outcome_unknown$/ },
  redirect: { answer: httpFaults.redirect("http://169.254.169.254/latest"), outcome: /^unavailable$/ },
  no_answer: { answer: httpFaults.events(": begun\n\n"), outcome: /^outcome_unknown$/ },
  reset: { answer: httpFaults.reset, outcome: /^outcome_unknown$/ },
  no_json: { answer: httpFaults.noJson, outcome: /^execution_failed$/ },
  endless: { answer: httpFaults.endless, outcome: /^timeout$/, timeoutMs: 500 },
  endless_event: {
    answer: httpFaults.endlessEvent,
    outcome: /^(timeout|outcome_unknown|too_large)$/,
    timeoutMs: 2_000,
  },
};

test("F28: a server over HTTP that misbehaves costs the calls that meet it a typed error, once, and nobody else anything", {
  timeout: 90_000 + FAULTS * 20_000,
}, async () => {
  await using stack = new AsyncDisposableStack();
  const peers = await Promise.all(
    Object.entries(webFaults).map(async ([name, fault]) => ({
      name,
      fault,
      peer: stack.use(await startFaultHttpServer()),
    })),
  );
  const servers = Object.fromEntries(peers.map(({ name, peer }) => [`web_${name}`, { type: "http", url: peer.url }]));
  await using scene = await openMcpScene({ ...servers, calm: faultServer() }, { sharesClaims: false });
  const { caller } = scene;
  await scene.startBridge([...Object.keys(servers), "calm"]);
  await expect
    .poll(() => Object.keys(servers).filter((name) => caller.tools.getExecutor(`${name}__act`) === undefined), {
      timeout: 30_000,
    })
    .toEqual([]);
  const idle = await durations(scene, atScale(20, 500));
  const faults = Promise.all(
    peers.map(async ({ name, fault, peer }) => {
      const met: SettledCall[] = [];
      for (let i = 0; i < FAULTS; i++) {
        peer.answer = fault.answer;
        const before = peer.calls;
        met.push(
          await settleCall(
            caller,
            `web_${name}__act`,
            { id: String(i) },
            { timeoutMs: fault.timeoutMs ?? DEADLINE_MS },
          ),
        );
        // A session that the server does not know any more is the one refusal after which it is asked again.
        expect(peer.calls - before).toBeLessThanOrEqual(name === "404" ? 2 : 1);
        peer.answer = httpFaults.ok;
        await untilBack(caller, `web_${name}`, "act");
      }
      return [name, met] as const;
    }),
  );
  const [met, meanwhile] = await Promise.all([faults, durationsWhile(scene, faults)]);
  checkOutcomes(met, webFaults);
  await record({
    fault: "F28",
    done: `${met.length * FAULTS} faults of MCP servers over HTTP: ${Object.keys(webFaults).join(", ")}`,
    figures: {
      ...countOutcomes(met.flatMap(([, calls]) => calls)),
      late: 0,
      repeated: 0,
      ...compared(idle, meanwhile),
    },
  });
});
