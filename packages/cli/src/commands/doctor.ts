import { createServer } from "node:net";
import { version } from "@rockbot/base/version";
import type { Bus } from "@rockbot/bus";
import type { ConnectBusOptions } from "@rockbot/bus-rabbitmq";
import { openPolicy } from "@rockbot/policy";
import type { Finding } from "@rockbot/services";
import { heardPolicies } from "@rockbot/tools";
import { Agent, request } from "undici";
import { busUrlFaults, chooseBusUrl, displayBusUrl, MEMORY_BUS } from "../bus-url.ts";
import { CommandError } from "../command-error.ts";
import { ExitCode } from "../exit-code.ts";
import { liveSocket } from "../runtime/own-socket.ts";
import { FINDINGS_PATH } from "../runtime/serve-socket.ts";
import { plainText } from "../terminal/plain-text.ts";
import { examineHere, type Listens, policyFinding } from "./examine-here.ts";

const BROKER_MS = 5000;
const TRUSTED = "trusted: every process on this bus can act as any agent";

export interface DoctorOptions {
  readonly bus?: string;
  readonly policy?: string;
  readonly json?: boolean;
}

/** `rockbot doctor`: how the running system stands, or else what this machine has for one. */
export async function doctor({ bus, policy: option, json = false }: DoctorOptions): Promise<void> {
  const { env } = process;
  const url = chooseBusUrl(bus, env);
  const running = url === MEMORY_BUS ? await findRunning(env) : undefined;
  if (running?.found !== undefined && option !== undefined)
    console.error('rockbot: --policy has no effect here: the running "rockbot up" has its own');
  const policy = await readPolicyFile(option ?? (env["POLICY_FILE"] || undefined));
  const findings =
    running?.found === undefined
      ? await examineShell({ url, env, policy, running: running?.finding })
      : [running.finding, ...running.found];
  if (json) console.log(JSON.stringify({ version, findings }, undefined, 2));
  else
    for (const { what, state, message } of findings)
      console.log(plainText(`${(state === "off" ? OFF : state).padEnd(OFF.length)} ${what.padEnd(15)} ${message}`));
  process.exitCode = findings.some(({ state }) => state === "broken") ? ExitCode.Failed : ExitCode.Ok;
}

const OFF = "off (optional)";

interface Shell {
  readonly url: string;
  readonly env: Env;
  readonly policy: FoundPolicy;
  /** The state of a `rockbot up` over the in-memory bus. */
  readonly running: Finding | undefined;
}

/**
 * What would run with the settings of this shell. For services behind a broker it reports only what works: their
 * settings are their own.
 */
async function examineShell({ url, env, policy, running }: Shell): Promise<readonly Finding[]> {
  const { findings, heard } = await broker(url, policy);
  const shell = await examineHere({ busUrl: url, env, elsewhere: heard });
  const ports = running?.state !== "ok" ? [] : await Promise.all(shell.listens.map(port));
  return [...(running === undefined ? [] : [running]), policy.finding, ...findings, ...shell.findings, ...ports];
}

/** @returns what is so of the bus, and the services that are heard there */
async function broker(
  url: string,
  { identity, revision }: FoundPolicy,
): Promise<{ readonly findings: readonly Finding[]; readonly heard: readonly string[] }> {
  const what = "bus";
  const [fault] = busUrlFaults(url);
  if (fault !== undefined) return { findings: [{ what, state: "broken", message: fault }], heard: [] };
  if (url === MEMORY_BUS) {
    const inMemory = {
      what,
      state: "ok",
      message: "in memory, all services in one process. --bus amqp://… connects several processes",
    } as const;
    return { findings: [inMemory, { what: "identity", state: "ok", message: TRUSTED }], heard: [] };
  }
  const { connectBus } = await import("@rockbot/bus-rabbitmq");
  try {
    await using connected = await connectBus(url, { name: "rockbot doctor", connectTimeoutMs: BROKER_MS, identity });
    const { found, heard } = await policies(connected, revision);
    return {
      findings: [{ what, state: "ok", message: `${displayBusUrl(url)} answers` }, await senders(connected), ...found],
      heard,
    };
  } catch (error) {
    const message = `${displayBusUrl(url)} cannot be used: ${error instanceof Error ? error.message : String(error)}`;
    return { findings: [{ what, state: "broken", message }], heard: [] };
  }
}

/**
 * Tells whether the broker's rights are those of the policy, as far as one user can see: it must not read other agents'
 * topics.
 */
async function senders(bus: Bus): Promise<Finding> {
  const what = "identity";
  const { verifiesSender, user } = bus.traits;
  if (!verifiesSender) return { what, state: "ok", message: TRUSTED };
  try {
    await using _all = await bus.subscribe({ name: "doctor", topics: ["#"], kind: "copy" }, async () => {});
  } catch (error) {
    // Of the topic alone: a user without the other rights of the policy is refused before that.
    if (/ACCESS.REFUSED.* topic /.test(String(error)))
      return { what, state: "ok", message: `verified by the broker; this process is its user "${user}"` };
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

/**
 * The policy that each service with tools goes by, beside that of the file. Revisions of the gateways are in a metric
 * only.
 */
async function policies(
  bus: Bus,
  revision: string | undefined,
): Promise<{ readonly found: readonly Finding[]; readonly heard: readonly string[] }> {
  const what = "policy in force";
  let heard: Awaited<ReturnType<typeof heardPolicies>>;
  try {
    heard = await heardPolicies(bus);
  } catch (error) {
    const message = `services cannot be heard by this user: ${error instanceof Error ? error.message : String(error)}. Use a broker user who may, and pass the policy that its rights were made from by --policy`;
    return { found: [{ what, state: "broken", message }], heard: [] };
  }
  const found = [...heard].map(([service, revisions]): Finding => {
    const isSame = revision === undefined || revisions.every((each) => each === revision);
    const others = isSame
      ? ""
      : `; the file's is ${revision}. Services take a changed file within seconds: look whether theirs is this one, and at their log`;
    return { what, state: isSame ? "ok" : "broken", message: `${service}: revision ${revisions.join(", ")}${others}` };
  });
  return { found, heard: [...heard.keys()] };
}

interface FoundPolicy {
  readonly finding: Finding;
  readonly identity?: ConnectBusOptions["identity"];
  readonly revision?: string;
}

async function readPolicyFile(file: string | undefined): Promise<FoundPolicy> {
  try {
    await using policy = await openPolicy(file);
    const { revision, document } = policy.current();
    return {
      finding: policyFinding(file, policy),
      ...(file === undefined ? {} : { identity: document.identity, revision }),
    };
  } catch (error) {
    return {
      finding: {
        what: "policy",
        state: "broken",
        message: error instanceof Error ? error.message.replaceAll("\n", ";") : String(error),
      },
    };
  }
}

type Env = Readonly<Record<string, string | undefined>>;

/** Tells whether `rockbot up` runs or could run, and what it finds if it does. */
async function findRunning(env: Env): Promise<{ readonly finding: Finding; readonly found?: readonly Finding[] }> {
  const what = "rockbot up";
  try {
    const socketPath = await liveSocket(env);
    if (socketPath === undefined)
      return {
        finding: {
          what,
          state: "ok",
          message: "does not run. Each command starts the tool that it needs, which takes longer",
        },
      };
    const finding: Finding = {
      what,
      state: "ok",
      message: `runs; its socket is ${socketPath}. What follows is what it finds, with its settings`,
    };
    return { finding, found: await findingsOf(socketPath) };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { finding: { what, state: "broken", message: error.message } };
  }
}

/** It may start a script in a sandbox of each kind, and ask a model's server. */
const FINDINGS_MS = 60_000;

/** @throws {CommandError} if the process at the socket does not tell */
async function findingsOf(socketPath: string): Promise<readonly Finding[]> {
  const dispatcher = new Agent({ connect: { socketPath, timeout: 2_000 } });
  try {
    const { body, statusCode } = await request(`http://localhost${FINDINGS_PATH}`, {
      dispatcher,
      signal: AbortSignal.timeout(FINDINGS_MS),
    });
    const { findings } = (statusCode === 200 ? await body.json() : {}) as { readonly findings?: readonly Finding[] };
    if (!Array.isArray(findings)) throw new Error(`it answers ${statusCode}. Is it of another version?`);
    return findings;
  } catch (error) {
    throw new CommandError(
      `runs, and does not say what it finds (${error instanceof Error ? error.message : String(error)})`,
    );
  } finally {
    await dispatcher.destroy();
  }
}

async function port({ name, port: number, host }: Listens): Promise<Finding> {
  const what = `port ${number}`;
  const fault = await listenFault(number, host);
  if (fault === undefined) return { what, state: "ok", message: `free for the ${name}` };
  return { what, state: "broken", message: `is not available (${fault}). Start with --port N` };
}

async function listenFault(number: number, host: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const server = createServer();
  server.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  server.listen(number, host, () => server.close(() => resolve(undefined)));
  return await promise;
}
