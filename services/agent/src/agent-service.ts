import {
  createAgent,
  createMemoryTurnStore,
  type DefinitionReader,
  keptFiles,
  mcpToolProxy,
  scriptValues,
  serviceSearch,
  spendingBy,
  type TurnStore,
} from "@rockbot/agent";
import { type Bus, type Logger, silentLogger } from "@rockbot/bus";
import { AGENT_SHORT_SUBSCRIPTION, agentTopics, tools } from "@rockbot/contracts";
import {
  behaviorOf,
  createEmbedder,
  createModel,
  type Model,
  type ModelBehaviors,
  type ModelError,
} from "@rockbot/llm";
import { mayHearBridge } from "@rockbot/mcp/for-agents";
import { createWorkingMemory, type WorkingMemory } from "@rockbot/memory";
import type { PolicyHolder, Readers } from "@rockbot/policy";
import type { JournalStore } from "@rockbot/records/journal";
import { createMemoryRateStore } from "@rockbot/records/rates";
import { Summaries, type SummaryStore } from "@rockbot/search";
import {
  createIdentity,
  createToolCaller,
  MessageMeter,
  type StartServiceOptions,
  serveTools,
  type ToolCaller,
} from "@rockbot/tools";
import { wisps } from "@rockbot/wisps";
import { agentChat, type OnUnasked } from "./chat/agent-chat.ts";
import { agentEmbed } from "./chat/agent-embed.ts";
import { agentEvents } from "./chat/agent-events.ts";
import { agentCancel, agentFamily } from "./chat/agent-family.ts";
import { awaitEnds } from "./chat/awaited-calls.ts";
import { checkReportSchemas, readAgentsFile } from "./definitions/read-agents-file.ts";
import type { AgentConfig } from "./generated/config.ts";
import { Helping } from "./helpers/helping.ts";
import { type ChosenModel, chooseModel, modelNames } from "./model/choose-model.ts";
import { type OllamaWindow, ollamaWindows } from "./model/ollama-window.ts";
import { readBehaviors } from "./model/read-behaviors.ts";
import { readSystemPrompt } from "./model/read-system-prompt.ts";
import { agentReadings } from "./operators/agent-readings.ts";
import { forOperators, type OperatorSessionsParts } from "./operators/operator-sessions.ts";
import type { ConnectAgentRecords } from "./records/agent-records.ts";
import { openAgentRecords } from "./records/open-agent-records.ts";
import { RobotTools } from "./robots/robot-tools.ts";
import { Robots } from "./robots/robots.ts";
import { notKept, openSessionShelf } from "./sessions/open-session-shelf.ts";
import { skillTools } from "./skills/skill-tools.ts";
import { Skills } from "./skills/skills.ts";
import { announceAgents, type ServedAgent } from "./tasks/announce-agents.ts";
import { takeTasks } from "./tasks/take-tasks.ts";
import { TaskMessages } from "./tasks/task-messages.ts";
import { SessionAddresses } from "./user/session-addresses.ts";
import { TurnCalls } from "./user/turn-calls.ts";
import { openUserDesk } from "./user/user-desk.ts";
import { UserReplies } from "./user/user-replies.ts";

/** The parts of the process that the agent uses. */
export interface StartAgentServiceOptions extends StartServiceOptions, Pick<OperatorSessionsParts, "localOperator"> {
  readonly policy?: PolicyHolder<Readers<"costPerDay">> | undefined;
  /** Where the journal of calls outlives this process. @default nowhere */
  readonly journals?: JournalStore | undefined;
  /** Where sessions and turns are kept that all instances share. @default this process */
  readonly turnStore?: TurnStore | undefined;
  /** The definitions of agents that callers have. @default those of the settings, where there is `connectRecords` */
  readonly definitions?: DefinitionReader | undefined;
  /**
   * The connection for the setting `databaseUrl`. Without it there are no robots and no skills, and no tools for them.
   */
  readonly connectRecords?: ConnectAgentRecords | undefined;
  /** Where sentences about services are kept that all instances share. @default this process */
  readonly summaryStore?: SummaryStore | undefined;
  /** Where working memory is kept that all instances share. @default this process */
  readonly workingMemory?: WorkingMemory | undefined;
}

/** The agent, served. */
export interface RunningAgentService extends AsyncDisposable {
  readonly notes: readonly string[];
  /** The calls of its turns. */
  readonly journal: ToolCaller["journal"];
}

/** The bound for calls of all turns here, and for turns of users' messages. */
const MAX_CALLS_IN_FLIGHT = 4_096;

/** Tools whose calls run turns. A turn may wait for a call of any other, so that those wait for no turn. */
const TURNS: readonly string[] = [tools.agentChat, tools.agentHelper].map(({ name }) => name);

/** Turns that outlast the rest of the grace have this time to leave in order. Another instance takes them up. */
const LEAVE_MS = 4_000;

/**
 * Runs the agent: turns as calls of `agent__chat`, and users' messages. Disposal waits for running turns, for most of
 * `shutdownGraceMs`; others go back to the bus, and are taken up by another instance.
 * @throws {ToolError} `unavailable`, saying what to set, if there is no model
 */
// Long because: it starts the parts one by one, each with those before it
export async function startAgentService(
  bus: Bus,
  config: Readonly<AgentConfig>,
  {
    service,
    topic,
    log = silentLogger,
    policy,
    signal,
    blobs,
    files,
    journals,
    turnStore,
    definitions: given,
    connectRecords,
    workingMemory,
    summaryStore,
    localOperator,
    ...options
  }: StartAgentServiceOptions,
): Promise<RunningAgentService> {
  const {
    agentName,
    turnTimeoutMs,
    concurrency,
    shutdownGraceMs,
    maxTools,
    summaryModel,
    agentModels,
    maxRobotsPerCaller,
    maxSkillsPerCaller,
  } = config;
  const drainMs = Math.max(shutdownGraceMs / 2, shutdownGraceMs - LEAVE_MS);
  const chosen = await chooseModel(config, signal);
  const { url, model: modelName } = chosen;
  const own = readBehaviors(config.modelBehaviors);
  const windows = await ollamaWindows(chosen, modelNames(modelName, config), own, signal);
  const little = [...windows].flatMap(([model, window]) =>
    window?.warning === undefined ? [] : [{ model, reason: window.warning }],
  );
  for (const { model, reason } of little) log.warn({ model, reason }, "the model has little room");
  const modelOf = modelMaker(chosen, own, { windows, log });
  const model = modelOf(modelName);
  await using started = new AsyncDisposableStack();
  const memory = workingMemory ?? started.use(createWorkingMemory());
  // With a journal the calls that are out are left for the next process, where one that ends would cancel them.
  const results = journals === undefined ? "copy" : "result";
  const caller = started.use(
    await createToolCaller(bus, {
      agent: service,
      results,
      blobs,
      files,
      journals,
      policy,
      maxCallsInFlight: MAX_CALLS_IN_FLIGHT,
      log,
    }),
  );
  const instructions = readSystemPrompt(config.systemPromptFile);
  const records = connectRecords && started.use(await openAgentRecords(config, connectRecords));
  const keepsSessions = turnStore === undefined && connectRecords !== undefined && config.keepSessions;
  const shelf = keepsSessions ? started.use(await openSessionShelf(config, log).catch(notKept(log))) : undefined;
  const ofFile = readAgentsFile(config.agentsFile);
  await checkReportSchemas(config.agentsFile, ofFile);
  const robots = records && new Robots(records.definitions, ofFile);
  const definitions = given ?? robots;
  const skills = records && new Skills(records.skills, policy);
  const known = new Map([[modelName, model], ...agentModels.map((name) => [name, modelOf(name)] as const)]);
  const spending =
    policy === undefined ? undefined : spendingBy(policy, options.rates ?? started.use(createMemoryRateStore()));
  const addresses = new SessionAddresses(memory);
  const replies = new UserReplies(bus, { source: service, agentName, addresses, log });
  const onUnasked = tellUser(replies, log);
  const builder = createAgent({
    bus,
    model,
    models: (name) => known.get(name),
    definitions,
    name: service,
    instructions,
    policy,
    caller,
    store: turnStore ?? started.use(createMemoryTurnStore({ shelf })),
    memory,
    audit: options.audit,
    maxCost: config.maxTurnCost,
    spending,
    awaitEnd: awaitEnds(caller, onUnasked),
    log,
  });
  if (mayHearBridge(bus, policy)) builder.use(mcpToolProxy());
  builder.use(scriptValues());
  if (files !== undefined) builder.use(keptFiles(files));
  const summaries =
    summaryModel === undefined
      ? undefined
      : started.use(new Summaries({ summarizer: modelOf(summaryModel), store: summaryStore, log }));
  builder.use(serviceSearch({ maxTools, summaries, skills }));
  const wispModel = config.wispModel === undefined ? undefined : modelOf(config.wispModel);
  builder.use(wisps({ memory, store: records?.wisps, maxWispsPerCaller: config.maxWispsPerCaller, model: wispModel }));
  const helping = config.helpers ? new Helping(bus, { memory, turnTimeoutMs, log }) : undefined;
  for (const plugin of helping?.plugins ?? []) builder.use(plugin);
  const agent = started.use(await builder.start());
  const chat = agentChat(agent, {
    modelNames: [...new Set([modelName, service, agentName])],
    turnTimeoutMs,
    definitions,
    policy,
    onUnasked,
    calls: caller,
  });
  const ofSkills = skills === undefined ? [] : skillTools({ skills, maxSkillsPerCaller, now: Date.now });
  const embed = embeddersOf(chosen, config).map((parts) => agentEmbed({ ...parts, spending }));
  const rule = { service, policy, localOperator, audit: options.audit, log };
  const telling = [chat, agentEvents(agent), agentFamily(agent), ...(helping?.tools(agent, onUnasked) ?? [])];
  const others = [...telling.map((tool) => forOperators(tool, rule)), agentCancel(agent), ...embed, ...ofSkills];
  const robotTools =
    robots &&
    started.use(
      new RobotTools({
        robots,
        wisps: records.wisps,
        models: [modelName, ...agentModels],
        maxRobotsPerCaller,
        caller,
        policy,
        others,
      }),
    );
  const set = robotTools?.provider ?? { tools: others };
  const short = set.tools.map(({ definition: { name } }) => name).filter((name) => !TURNS.includes(name));
  const aside = { subscription: AGENT_SHORT_SUBSCRIPTION, topic: agentTopics.short, tools: short };
  const serving = {
    ...options,
    commands: agentReadings({ agent, memory, wisps: records?.wisps }),
    aside,
    blobs,
    service,
    topic,
    policy,
    log,
    concurrency,
    drainMs,
    isAuditRequired: config.auditRequired,
  };
  const served = started.use(await serveTools(bus, set, serving));
  const parts = {
    agent,
    turns: new TurnCalls(caller),
    replies,
    addresses,
    identity: createIdentity(bus, policy),
    meter: new MessageMeter({ policy, log }),
  };
  const users = await openUserDesk(bus, { ...parts, source: service, turnTimeoutMs, drainMs, log });
  const onBus = agentsOnBus(config);
  const tasks =
    onBus.length === 0
      ? []
      : [
          await takeTasks(bus, {
            ...parts,
            agents: onBus,
            messages: new TaskMessages(bus, { log }),
            turnTimeoutMs,
            drainMs,
            log,
          }),
        ];
  // All at once: what the others wait for are turns.
  started.defer(
    async () => void (await Promise.all([users, served, ...tasks].map((each) => each[Symbol.asyncDispose]()))),
  );
  if (onBus.length > 0) started.use(await announceAgents(bus, onBus, { log }));
  log.info({ model: modelName, url }, "the agent listens");
  const running = started.move();
  return {
    notes: [
      `model     ${modelName} at ${url}${chosen.isFound ? ", an Ollama that was found here" : ""}`,
      ...little.map(({ reason }) => `warning   ${reason}`),
    ],
    journal: caller.journal,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** The agents that take tasks over the bus. The agent's own name is that of the plain agent. */
const agentsOnBus = ({ busAgents, agentName }: Readonly<AgentConfig>): readonly ServedAgent[] =>
  busAgents.map((name) => ({ name, definition: name === agentName ? undefined : name }));

/**
 * Tells a user the answer of a turn. The turn has ended, and its answer is in the session, even if the user cannot
 * receive it now.
 */
const tellUser =
  (replies: UserReplies, log: Logger): OnUnasked =>
  (...answer) =>
    replies
      .volunteer(...answer)
      .catch((error: unknown) =>
        log.warn({ reason: String(error) }, "could not send the answer of a task to its user"),
      );

type MakeModel = (name: string) => Model;

interface MakingParts {
  readonly windows: ReadonlyMap<string, OllamaWindow | undefined>;
  readonly log: Logger;
}

/** Makes the models at the place that was chosen. */
function modelMaker(
  { url, apiKey, protocol }: ChosenModel,
  behaviors: ModelBehaviors,
  { windows, log }: MakingParts,
): MakeModel {
  const onRetry = ({ code, message }: ModelError, waitMs: number): void =>
    log.warn({ code, reason: message, waitMs }, "the model failed, and is asked again");
  return (model) =>
    createModel({ url, model, apiKey, protocol, behaviors, contextTokens: windows.get(model)?.tokens, onRetry });
}

/** The model for embeddings at the place that was chosen, if the settings name one. */
function embeddersOf({ url, apiKey }: ChosenModel, { embeddingModel: model, modelBehaviors }: Readonly<AgentConfig>) {
  if (model === undefined) return [];
  return [
    { embedder: createEmbedder({ url, model, apiKey }), price: behaviorOf(model, readBehaviors(modelBehaviors)).price },
  ];
}
