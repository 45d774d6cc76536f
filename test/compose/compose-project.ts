import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { busServices } from "@rockbot/services";
import { docker, freePort, gatewayClient, type TemporaryFolder, temporaryFolder } from "@rockbot/testing";
import { agentsFile, GOOGLE_CLIENT_ID, restFile, SHOP_KEY, secrets } from "../every-tool/stand-ins.ts";

const root = dirname(dirname(import.meta.dirname));
const exec = promisify(execFile);

/** A system that `docker compose up` has started from a fresh clone. Disposal removes it with all its data. */
export interface ComposeProject extends AsyncDisposable {
  readonly name: string;
  /** The address of the gateway, and its bearer token. */
  readonly url: string;
  readonly token: string;
  /** The address of the broker, as the user of the command. */
  readonly busUrl: string;
  /** The policy of all. */
  readonly policyFile: string;
  compose(...args: readonly string[]): Promise<string>;
  /** The container of a service. */
  container(service: string): string;
  /** Runs Node in a service's container. @returns its output */
  node(service: string, ...args: readonly string[]): Promise<string>;
  /** What the gateway answers to JSON; rejects if that takes five minutes. */
  post(path: string, body: object): Promise<unknown>;
  /** A tool's answer, or the error, as the gateway says it. */
  call(tool: string, args: object, headers?: Readonly<Record<string, string>>): Promise<CallAnswer>;
}

export interface CallAnswer {
  readonly isError?: boolean;
  readonly content?: string;
  readonly structured?: unknown;
  /** The code of an error. */
  readonly code?: string;
  readonly message?: string;
  readonly details?: { readonly mayHaveRun?: boolean };
}

/** The image with Debian's Prometheus, which a test makes: no other one is available everywhere. */
export const PROMETHEUS_IMAGE = "rockbot-test/prometheus";

const UP_MS = 1_500_000;
const CALL_MS = 120_000;

/**
 * Starts everything but openrouter-mcp and what watches, from a clone of the last commit, on free ports and under a
 * name of its own.
 */
export async function startComposeProject(): Promise<ComposeProject> {
  const folder = temporaryFolder();
  const clone = await cloneInto(folder.path);
  const { policyFile, settings } = setUpTools(folder, clone);
  const name = `rockbot-test-${randomBytes(4).toString("hex")}`;
  const [gateway, amqp, ui] = [await freePort(), await freePort(), await freePort()];
  const variables = {
    COMPOSE_PROJECT_NAME: name,
    COMPOSE_PROFILES: busServices.flatMap(({ profile }) => profile ?? []).join(),
    ROCKBOT_TEST_REPOSITORY: root,
    ROCKBOT_MCP_CONFIG: join(root, "test/compose/mcp.json"),
    ...settings,
    ROCKBOT_PROMETHEUS_IMAGE: PROMETHEUS_IMAGE,
    ROCKBOT_GATEWAY_PORT: String(gateway),
    ROCKBOT_AMQP_PORT: String(amqp),
    ROCKBOT_RABBITMQ_UI_PORT: String(ui),
  };
  const compose = async (...args: readonly string[]): Promise<string> => {
    const files = ["-f", "docker-compose.yml", "-f", join(root, "test/compose/stand-ins.yaml")];
    const options = { cwd: clone, env: { ...process.env, ...variables }, timeout: UP_MS, maxBuffer: 64 * 1024 * 1024 };
    return (await exec("docker", ["compose", "--progress", "quiet", ...files, ...args], options)).stdout;
  };
  const secret = async (secretName: string) =>
    (await compose("run", "--rm", "init", "compose", "secret", secretName)).trim();
  const remove = async () => {
    await compose("--profile", "*", "down", "--volumes", "--timeout", "30");
    folder[Symbol.dispose]();
  };
  try {
    await compose("up", "--build", "--wait");
    const [token, password] = [await secret("ROCKBOT_GATEWAY_TOKEN"), await secret("ROCKBOT_PASSWORD_CLI")];
    const url = `http://127.0.0.1:${gateway}`;
    const container = (service: string) => `${name}-${service}-1`;
    const client = gatewayClient(url, token);
    return {
      name,
      url,
      token,
      busUrl: `amqp://cli:${password}@127.0.0.1:${amqp}`,
      policyFile,
      compose,
      container,
      node: (service, ...args) => docker(["exec", container(service), "node", ...args], CALL_MS),
      post: async (path, body) => (await client.request(path, { body })).body,
      call: async (tool, args, headers) => (await client.call(tool, args, headers)).body as CallAnswer,
      [Symbol.asyncDispose]: remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * What an operator does for the services of profiles: secrets, a file of endpoints, a folder of the workspace, and
 * dangerous tools in the policy.
 */
function setUpTools(
  folder: TemporaryFolder,
  clone: string,
): { readonly policyFile: string; readonly settings: Readonly<Record<string, string>> } {
  const policyFile = join(clone, "docker/policy/policy.yaml");
  const inOwnFolder = (name: string, content: object): string => {
    mkdirSync(join(folder.path, dirname(name)));
    return folder.write(name, content);
  };
  const [ROCKBOT_WORKSPACE, SHOP_KEY_FILE] = [join(folder.path, "workspace"), folder.write("shop-key", SHOP_KEY)];
  mkdirSync(ROCKBOT_WORKSPACE);
  chmodSync(ROCKBOT_WORKSPACE, 0o777); // for the images' user
  writeFileSync(
    policyFile,
    readFileSync(policyFile, "utf8").replaceAll('allow: ["*"]', 'allow: ["*", write_file, edit_file, bash]'),
  );
  const given = Object.entries(secrets).map(([variable, value]) => `${variable}=${value}\n`);
  writeFileSync(join(clone, "docker/secrets.env"), given.join(""), { mode: 0o600 });
  const ROCKBOT_A2A_AGENTS_FILE = inOwnFolder("a2a/well-known-agents.json", agentsFile("http://outside:8490"));
  const ROCKBOT_REST_CONFIG = inOwnFolder("rest/rest.json", restFile("http://shop:8490"));
  return {
    policyFile,
    settings: {
      ROCKBOT_REST_CONFIG,
      ROCKBOT_A2A_AGENTS_FILE,
      SHOP_KEY_FILE,
      ROCKBOT_WORKSPACE,
      GOOGLE_CLIENT_ID,
      LINKEDIN_ROBOTS: "obey",
      OFFER_SEARCH: "true",
    },
  };
}

/** Clones the last commit into a folder. @returns the clone's folder */
export async function cloneInto(folder: string): Promise<string> {
  const clone = join(folder, "clone");
  await exec("git", ["clone", "--quiet", "--no-hardlinks", root, clone]);
  return clone;
}
