import { createHash } from "node:crypto";
import { definitionFaults, definitionHash, type KeptDefinition, NO_BOUNDS } from "@rockbot/agent";
import { ConfigError, loadConfig } from "@rockbot/process/config";
import { type Agent, agentsSchema } from "../generated/agents.ts";
import { schemaFaults } from "../robots/schema-faults.ts";

/**
 * The agents of the file, approved as they are; none without a file.
 * @throws {ConfigError} with all faults at once
 */
export function readAgentsFile(file: string | undefined): readonly KeptDefinition[] {
  if (file === undefined) return [];
  const agents = Object.entries(loadConfig(agentsSchema, { env: {}, file }) as Readonly<Record<string, Agent>>).map(
    ([name, agent]) => definitionOf(name, agent),
  );
  const names = agents.map(({ name }) => name);
  const faults = agents.flatMap((agent) => [
    ...definitionFaults(agent).map((fault) => `${agent.name}.${fault}`),
    ...(agent.destinations ?? [])
      .filter((name) => !names.includes(name))
      .map(
        (name) =>
          `${agent.name}.destinations: the file has no agent ${JSON.stringify(name)}. It has ${names.join(", ")}`,
      ),
    ...(agent.destinations?.includes(agent.name)
      ? [`${agent.name}.destinations: ${JSON.stringify(agent.name)} is the agent itself`]
      : []),
  ]);
  refuse(file, faults);
  return agents;
}

/**
 * Compiles the schemas that the file has for final reports, which takes code that most processes never load.
 * @throws {ConfigError} with all faults at once
 */
export async function checkReportSchemas(file: string | undefined, agents: readonly KeptDefinition[]): Promise<void> {
  const faults = agents.map(async ({ name, reportSchema }) =>
    (await schemaFaults(reportSchema)).map((fault) => `${name}.reportSchema: ${fault}`),
  );
  refuse(file ?? "", (await Promise.all(faults)).flat());
}

function refuse(file: string, faults: readonly string[]): void {
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => `agentsFile: ${file}: ${fault}`));
}

function definitionOf(name: string, { maxTokens, maxIterations, timeoutMs, maxCost, ...agent }: Agent): KeptDefinition {
  const { description = "", playbook, tools = [], model, destinations = [], reportSchema, maker = "operator" } = agent;
  const plain = {
    name,
    description,
    playbook,
    tools,
    ...(model === undefined ? {} : { model }),
    budgets: { maxTokens, maxIterations, timeoutMs, maxCost },
    destinations,
    ...(reportSchema === undefined ? {} : { reportSchema }),
    maker,
    isUntrusted: false,
    grant: NO_BOUNDS,
  };
  const hash = definitionHash(plain);
  const id = createHash("sha256")
    .update(JSON.stringify(["file", name]))
    .digest("hex")
    .slice(0, 24);
  return { id, ...plain, hash, approvedHash: hash, version: 1, createdAt: 0, updatedAt: 0 };
}
