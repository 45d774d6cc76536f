import { createMemoryBus } from "@rockbot/bus";
import { createPolicy, holdPolicy, readPolicy } from "@rockbot/policy";
import { loadConfig } from "@rockbot/process/config";
import { createMemoryFileStore } from "@rockbot/records/files";
import { temporaryFolder } from "@rockbot/testing";
import { createToolCaller } from "@rockbot/tools";
import type { TrustStore } from "@rockbot/trust";
import { configSchema, type RestToolsConfig } from "./generated/config.ts";
import { startRestTools } from "./rest-tools.ts";

export interface TestRestToolsOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The policy as YAML. */
  readonly policy?: string;
  readonly config?: Partial<RestToolsConfig>;
  readonly trustStore?: TrustStore;
  /** How long the start waits for documents. */
  readonly settleMs?: number;
  readonly agent?: string;
  /** The ports of local servers that may be reached. */
  readonly ports?: readonly number[];
}

/** Starts the whole service in memory for tests, with a file of this content, and a caller. */
export async function startTestRestTools(
  content: object | string,
  {
    env = {},
    policy: yaml,
    config: settings = {},
    trustStore,
    settleMs,
    agent = "tester",
    ports = [],
  }: TestRestToolsOptions = {},
) {
  await using started = new AsyncDisposableStack();
  const folder = started.use(temporaryFolder());
  const restConfig = folder.write("rest.json", content);
  const allowAddresses = ports.map((port) => `127.0.0.1:${port}`);
  const config = loadConfig(configSchema, {
    env: {},
    overrides: { restConfig, allowAddresses, shutdownGraceMs: 5_000, ...settings },
  });
  const policy = yaml === undefined ? undefined : holdPolicy(createPolicy(await readPolicy(yaml, "of the test")));
  const bus = started.use(createMemoryBus());
  const { files } = started.use(createMemoryFileStore());
  const rest = started.use(
    await startRestTools(bus, config, {
      service: "rest-tools",
      topic: "tool.invoke.rest",
      env,
      policy,
      trustStore,
      settleMs,
      files,
    }),
  );
  const caller = started.use(await createToolCaller(bus, { agent, policy, files }));
  await caller.discovered();
  const open = started.move();
  return {
    rest,
    bus,
    caller,
    files,
    folder,
    tools: () => caller.tools.getTools().flatMap(({ name, source }) => (source === "rest-tools" ? [name] : [])),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}
