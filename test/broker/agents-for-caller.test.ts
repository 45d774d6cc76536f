import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { configSchema, startAgentService } from "@rockbot/agent-service";
import { AGENT, agentTopics } from "@rockbot/contracts";
import { loadConfig } from "@rockbot/process/config";
import { startModelServer, temporaryFolder } from "@rockbot/testing";
import { expect, test } from "vitest";
import { runCli } from "../../packages/cli/src/test-cli.ts";
import { verifiedHost } from "./verified-broker.ts";
import { connect } from "./verified-system.ts";

/** Two callers with agents, and two users of the broker, of whom one may call for one of them. */
const POLICY = `
identity: verified
callers:
  alice: { allow: ["agent__*"] }
  bob: { allow: ["agent__*"] }
  ops: { allow: ["agent__*"] }
  clerk: { allow: ["agent__*"] }
services:
  agent: { topic: tool.invoke.agent, tools: ["agent__*"], owns: [user.message, user.feedback, user.history.request] }
delegates: [{ user: agent, for: [alice, bob, ops, clerk] }, { user: ops, for: [alice] }]
`;

test("a broker with rights lets the operator run an agent for the callers that the policy names, and nobody else", {
  timeout: 120_000,
}, async () => {
  using folder = temporaryFolder();
  await using model = await startModelServer(() => ({ text: "At noon." }));
  await using broker = await verifiedHost(POLICY);
  await using agentBus = await connect(broker, AGENT);
  const agentsFile = join(folder.path, "agents.yaml");
  const policyFile = join(folder.path, "policy.yaml");
  writeFileSync(agentsFile, "porter: { playbook: Find the fastest one., tools: [] }");
  writeFileSync(policyFile, POLICY);
  const env = {
    MODEL_URL: model.url,
    MODEL: model.model,
    MODEL_API_KEY: model.apiKey,
    AGENTS_FILE: agentsFile,
    DATA_DIRECTORY: join(folder.path, "data"),
  };
  const config = loadConfig(configSchema, { env });
  const connectRecords = () => Promise.reject(new Error("the test needs no other database than the file"));
  await using _agent = await startAgentService(agentBus, config, {
    service: AGENT,
    topic: agentTopics.invoke,
    policy: broker.policy,
    connectRecords,
  });
  const runFor = (caller: string, user: string) =>
    runCli(
      [
        "agents",
        "run",
        "porter",
        "Bern to Brig?",
        "--for",
        caller,
        "--bus",
        broker.urlOf(user),
        "--policy",
        policyFile,
      ],
      { folder: folder.path },
    );

  const ran = await runFor("alice", "ops");
  expect([ran.code, ran.stdout, ran.stderr]).toEqual([
    0,
    "At noon.\n",
    expect.stringContaining("rockbot agents show --session"),
  ]);
  expect(model.requests).toHaveLength(1);
  const refused = {
    "for another caller": await runFor("bob", "ops"),
    "by another user": await runFor("alice", "clerk"),
  };
  expect(Object.values(refused).map(({ code, stdout }) => [code, stdout])).toEqual([
    [1, ""],
    [1, ""],
  ]);
  expect(refused["for another caller"].stderr).toContain(`"ops" may not call on behalf of "bob"`);
  expect(refused["by another user"].stderr).toContain(`"clerk" may not call on behalf of others`);
  expect(model.requests).toHaveLength(1);
});
