import { createServer } from "node:net";
import { version } from "@rockbot/base/version";
import type { Bus } from "@rockbot/bus";
import type { ConnectBusOptions } from "@rockbot/bus-rabbitmq";
import { openPolicy, policyNotes } from "@rockbot/policy";
import { ConfigError } from "@rockbot/process/config";
import { type BusService, busServices, type Finding } from "@rockbot/services";
import { heardPolicies } from "@rockbot/tools";
import packageJson from "../../package.json" with { type: "json" };
import { busUrlFaults, chooseBusUrl, displayBusUrl, MEMORY_BUS } from "../bus-url.ts";
import { CommandError } from "../command-error.ts";
import { ExitCode } from "../exit-code.ts";
import { ownSocket } from "../runtime/own-socket.ts";
import { plainText } from "../terminal/plain-text.ts";

const BROKER_MS = 5000;
const TRUSTED = "trusted: every process on this bus can act as any agent";

export interface DoctorOptions {
  readonly bus?: string;
  readonly policy?: string;
  readonly json?: boolean;
}

/** `rockbot doctor`: what is missing on this machine, and what that costs. */
export async function doctor({ bus, policy: option, json = false }: DoctorOptions): Promise<void> {
  const { env } = process;
  const url = chooseBusUrl(bus, env);
  const running = await findRunning(env);
  const policy = await readPolicyFile(option ?? (env["POLICY_FILE"] || undefined));
  const examined = await Promise.all(busServices.map((service) => examine(service, url, env)));
  const findings: Finding[] = [
    node(),
    policy.finding,
    ...(await broker(url, policy)),
    ...examined.flatMap(({ found }) => found),
    ...(url === MEMORY_BUS ? [running.finding] : []),
    ...(await Promise.all(examined.flatMap(({ listens }) => (listens === undefined ? [] : [port(listens, running.isRunning)])))),
  ];
  if (json) console.log(JSON.stringify({ version, findings }, undefined, 2));
  else for (const { what, state, message } of findings) console.log(plainText(`${state.padEnd(8)} ${what.padEnd(15)} ${message}`));
  process.exitCode = findings.some(({ state }) => state === "broken") ? ExitCode.Failed : ExitCode.Ok;
}

function node(): Finding {
  const wanted = /\d+/.exec(packageJson.engines.node)?.[0];
  const isNew = Number(process.versions.node.split(".", 1)[0]) >= Number(wanted);
  return {
    what: "Node.js",
    state: isNew ? "ok" : "broken",
    message: isNew ? process.versions.node : `${process.versions.node} is too old: RockBot needs ${wanted}. Start it with ./rockbot, which installs its own`,
  };
}

async function broker(url: string, { identity, revision }: FoundPolicy): Promise<Finding[]> {
  const what = "bus";
  const [fault] = busUrlFaults(url);
  if (fault !== undefined) return [{ what, state: "broken", message: fault }];
  if (url === MEMORY_BUS) {
    return [
      { what, state: "ok", message: "in memory, all services in one process. --bus amqp://… connects several processes" },
      { what: "identity", state: "ok", message: TRUSTED },
    ];
  }
  const { connectBus } = await import("@rockbot/bus-rabbitmq");
  try {
    await using connected = await connectBus(url, { name: "rockbot doctor", connectTimeoutMs: BROKER_MS, identity });
    return [{ what, state: "ok", message: `${displayBusUrl(url)} answers` }, await senders(connected), ...(await policies(connected, revision))];
  } catch (error) {
    return [{ what, state: "broken", message: `${displayBusUrl(url)} cannot be used: ${error instanceof Error ? error.message : String(error)}` }];
  }
}

/** Whether the broker's rights are those of the policy, as far as one user can tell: it must not be able to hear everybody. */
async function senders(bus: Bus): Promise<Finding> {
  const what = "identity";
  const { verifiesSender, user } = bus.traits;
  if (!verifiesSender) return { what, state: "ok", message: TRUSTED };
  try {
    await using _all = await bus.subscribe({ name: "doctor", topics: ["#"], kind: "copy" }, async () => {});
  } catch (error) {
    // Of the topic alone: a user without the other rights of the policy is refused before that.
    if (/ACCESS.REFUSED.* topic /.test(String(error))) return { what, state: "ok", message: `verified by the broker; this process is its user "${user}"` };
    return {
      what,
      state: "broken",
      message: `the user "${user}" lacks rights of the policy, or they cannot be checked: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
  return {
    what,
    state: "broken",
    message: `verified, but the user "${user}" can read every message, so the broker does not enforce the policy. Import the file that "rockbot broker definitions" writes`,
  };
}

/** The policy that each service with tools goes by, beside that of the file. Those of the gateways are in a metric only. */
async function policies(bus: Bus, revision: string | undefined): Promise<Finding[]> {
  const what = "policy in force";
  let heard: Awaited<ReturnType<typeof heardPolicies>>;
  try {
    heard = await heardPolicies(bus);
  } catch (error) {
    return [{ what, state: "missing", message: `services cannot be heard by this user: ${error instanceof Error ? error.message : String(error)}` }];
  }
  return [...heard].map(([service, revisions]) => {
    const isSame = revision === undefined || revisions.every((each) => each === revision);
    const others = isSame ? "" : `; the file's is ${revision}. Services take a changed file within seconds: look whether theirs is this one, and at their log`;
    return { what, state: isSame ? "ok" : "broken", message: `${service}: revision ${revisions.join(", ")}${others}` };
  });
}

interface FoundPolicy {
  readonly finding: Finding;
  readonly identity?: ConnectBusOptions["identity"];
  readonly revision?: string;
}

async function readPolicyFile(file: string | undefined): Promise<FoundPolicy> {
  const what = "policy";
  if (file === undefined)
    return {
      finding: {
        what,
        state: "missing",
        message: "none: every caller may use every tool except the dangerous ones. Set --policy or POLICY_FILE",
      },
    };
  try {
    await using policy = await openPolicy(file);
    const { revision, document } = policy.current();
    const message = [`${file}, revision ${revision}, identity ${document.identity}`, ...policyNotes(document)].join("; ");
    return { finding: { what, state: "ok", message }, identity: document.identity, revision };
  } catch (error) {
    return { finding: { what, state: "broken", message: error instanceof Error ? error.message.replaceAll("\n", ";") : String(error) } };
  }
}

type Env = Readonly<Record<string, string | undefined>>;

/** The findings of each service, and whether its settings and its port can be used. */
async function examine(service: BusService, busUrl: string, env: Env): Promise<{ readonly found: readonly Finding[]; readonly listens?: Listens }> {
  try {
    const [load, { checkFiles }] = await Promise.all([service.loader(), service.settings()]);
    const config = load({ env, overrides: { busUrl } });
    checkFiles?.(config, env);
    const found = (await service.examine?.(config, env)) ?? [];
    return service.port === undefined ? { found } : { found, listens: { name: service.name, ...(config as unknown as Omit<Listens, "name">) } };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { found: [{ what: service.name, state: "broken", message: `cannot start: ${error.faults.join("; ")}` }] };
  }
}

/** Whether `rockbot up` runs, and whether it could. */
async function findRunning(env: Readonly<Record<string, string | undefined>>): Promise<{ readonly isRunning: boolean; readonly finding: Finding }> {
  const what = "rockbot up";
  try {
    const socket = ownSocket(env);
    const isRunning = await socket.isLive();
    return {
      isRunning,
      finding: {
        what,
        state: "ok",
        message: isRunning ? `runs; its socket is ${socket.path}` : "does not run. Each command starts the tool that it needs, which takes longer",
      },
    };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { isRunning: false, finding: { what, state: "broken", message: error.message } };
  }
}

interface Listens {
  readonly name: string;
  readonly port: number;
  readonly host: string;
}

async function port({ name, port: number, host }: Listens, isRunning: boolean): Promise<Finding> {
  const what = `port ${number}`;
  const fault = await listenFault(number, host);
  if (fault === undefined) return { what, state: "ok", message: `free for the ${name}` };
  if (fault === "EADDRINUSE" && isRunning) return { what, state: "ok", message: 'taken, probably by the running "rockbot up"' };
  return { what, state: "missing", message: `is not available (${fault}). Start with --port N` };
}

async function listenFault(number: number, host: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const server = createServer();
  server.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  server.listen(number, host, () => server.close(() => resolve(undefined)));
  return await promise;
}
