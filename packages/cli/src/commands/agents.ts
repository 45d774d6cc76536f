import type { DefinitionStore, KeptDefinition } from "@rockbot/agent";
import { openDefinitions, readAgentsFile } from "@rockbot/agent-service";
import { printable } from "@rockbot/contracts";
import { StoreUnavailableError } from "@rockbot/records";
import { serviceNamed } from "@rockbot/services";
import { CommandError } from "../command-error.ts";
import { ExitCode } from "../exit-code.ts";
import { isConfirmed } from "../terminal/is-confirmed.ts";

export interface AgentsListOptions {
  readonly json?: boolean;
}

export interface AgentsApproveOptions {
  readonly yes?: boolean;
  readonly withdraw?: boolean;
}

const MAX_LINE = 2_000;

/** `rockbot agents ls`: the definitions of all makers. */
export async function listAgents({ json = false }: AgentsListOptions): Promise<void> {
  await withAgents(async (agents, where) => {
    if (json) return console.log(JSON.stringify(agents.map(entryOf), undefined, 2));
    for (const agent of agents) {
      const notes = [agent.isUntrusted ? "untrusted" : undefined, agent.description].filter(Boolean).join(", ");
      console.log(printable(`${agent.id}  ${agent.maker}/${agent.name}  version ${agent.version}  ${stateOf(agent)}  ${notes}`, MAX_LINE));
    }
    const waiting = agents.filter((agent) => stateOf(agent) !== "shared").length;
    console.error(`${agents.length} in ${where}; ${waiting} of them only their makers see. To share one: rockbot agents approve ROBOT`);
  });
}

/** `rockbot agents show`: all that a model reads of a definition. */
export async function showAgent(named: string, { json = false }: AgentsListOptions): Promise<void> {
  await withAgents(async (agents, where) => {
    const agent = chosen(agents, named, where);
    if (json) console.log(JSON.stringify({ ...entryOf(agent), playbook: agent.playbook, reportSchema: agent.reportSchema }, undefined, 2));
    else for (const line of described(agent)) console.log(printable(line, MAX_LINE));
  });
}

/** `rockbot agents approve`: shares exactly what it has shown, or shares it no more. */
export async function approveAgent(named: string, { yes = false, withdraw = false }: AgentsApproveOptions): Promise<void> {
  await withAgents(async (agents, where, store) => {
    const agent = chosen(agents, named, where);
    for (const line of described(agent)) console.log(printable(line, MAX_LINE));
    const name = printable(`${agent.maker}/${agent.name}`);
    if (isOfFile(agent)) throw new CommandError(`${name} is of the file of AGENTS_FILE, whose agents are shared as they are. Change the file`);
    if (!yes && !(await isConfirmed(withdraw ? "Share this no more?" : "Share this with every caller?"))) {
      console.error(`Nothing is changed. Add --yes to ${withdraw ? "withdraw" : "approve"} what is shown here`);
      process.exitCode = ExitCode.Failed;
      return;
    }
    const outcome = await store.approve(agent.id, withdraw ? undefined : agent.hash);
    if (outcome === "gone") throw new CommandError(`${name} is not there any more`);
    if (outcome === "stale") throw new CommandError(`not approved, as it is not any more what was shown: ${name}. Look again`);
    console.error(`${withdraw ? "withdrew" : "approved"} ${name}, version ${agent.version}`);
  });
}

/** One by its id, its name, or MAKER/NAME. @throws {CommandError} */
function chosen(agents: readonly KeptDefinition[], named: string, where: string): KeptDefinition {
  const found = agents.filter(({ id, maker, name }) => id === named || name === named || `${maker}/${name}` === named);
  const [agent] = found;
  if (agent === undefined) throw new CommandError(`There is no agent ${printable(named)} in ${where}: "rockbot agents ls" lists those that there are`);
  if (found.length > 1)
    throw new CommandError(
      `${found.length} agents are called ${printable(named)}: name one of ${found.map(({ maker, name }) => printable(`${maker}/${name}`)).join(", ")}`,
    );
  return agent;
}

const isOfFile = ({ createdAt }: KeptDefinition): boolean => createdAt === 0;

const stateOf = ({ approvedHash, hash }: KeptDefinition): string =>
  approvedHash === hash ? "shared" : approvedHash === undefined ? "not approved" : "changed since its approval";

function entryOf(agent: KeptDefinition) {
  const { id, maker, name, description, tools, model, budgets, destinations, isUntrusted, version, hash } = agent;
  return { id, maker, name, state: stateOf(agent), description, tools, model, budgets, destinations, isUntrusted, version, hash };
}

function described(agent: KeptDefinition): readonly string[] {
  const { maker, name, description, playbook, tools, model, budgets = {}, destinations = [], reportSchema, isUntrusted, version, hash } = agent;
  const bounds = Object.entries(budgets).flatMap(([budget, value]) => (value === undefined ? [] : [`${budget} ${value}`]));
  return [
    `${maker}/${name}, version ${version}: ${stateOf(agent)}`,
    `  hash          ${hash}`,
    ...(isUntrusted ? ["  untrusted     a turn has written it that had read strangers' content: its playbook is fenced"] : []),
    `  description   ${description}`,
    `  tools         ${tools.join(", ") || "none"}`,
    ...(model === undefined ? [] : [`  model         ${model}`]),
    ...(bounds.length === 0 ? [] : [`  budgets       ${bounds.join(", ")}`]),
    ...(destinations.length === 0 ? [] : [`  destinations  ${destinations.join(", ")}`]),
    ...(reportSchema === undefined ? [] : [`  reports       ${JSON.stringify(reportSchema)}`]),
    "  playbook",
    ...playbook.split("\n").map((line) => `    ${line}`),
  ];
}

/** The database is that of the agent's settings: the same variables name it. @throws {CommandError} in words for the user */
async function withAgents(work: (agents: readonly KeptDefinition[], where: string, store: DefinitionStore) => Promise<void>): Promise<void> {
  const load = await serviceNamed("agent").loader();
  const config = load({ env: process.env });
  try {
    await using store = await openDefinitions(config, async (...to) => (await import("@rockbot/agent-service/postgres")).connectPostgresDefinitionStore(...to));
    await work([...readAgentsFile(config.agentsFile), ...(await store.all())], store.where, store);
  } catch (error) {
    if (error instanceof StoreUnavailableError) throw new CommandError(error.message);
    throw error;
  }
}
