import { generateKeyPairSync } from "node:crypto";
import { connectBus } from "@rockbot/bus-rabbitmq";
import { ageClaims } from "@rockbot/records/claims/age";
import {
  ownVirtualHost,
  startOwnBroker,
  startOwnRedis,
  type TestBroker,
  type TestRedis,
  temporaryFolder,
} from "@rockbot/testing";
import { createToolCaller, type ToolCaller } from "@rockbot/tools";
import { createLedgerFile, type LedgerFile } from "../faults/effects/ledger-file.ts";
import { startEffectService } from "../faults/effects/start-effect-service.ts";
import { type RunningProcess, startProgram, untilReady } from "../services/start-service.ts";

/** Scripts and the tools that they call, as processes over RabbitMQ and Redis. */
export interface ScriptToolsScene extends AsyncDisposable {
  readonly caller: ToolCaller;
  /** What the tools `read_fx` and `effect_fx` have done. */
  readonly ledger: LedgerFile;
  readonly manager: RunningProcess;
  readonly redis: TestRedis;
  /** Where the scene has a broker of its own. */
  readonly broker: TestBroker | undefined;
  /** Ends the manager by SIGKILL, and starts the next one. */
  killManager(): Promise<void>;
}

const POLICY = "everyone: { allow: ['*'], scripts: { allow: [read_fx, effect_fx] } }\n";

export async function openScriptToolsScene({
  hasOwnBroker = false,
}: {
  readonly hasOwnBroker?: boolean;
} = {}): Promise<ScriptToolsScene> {
  await using opening = new AsyncDisposableStack();
  const broker = hasOwnBroker ? opening.use(await startOwnBroker()) : undefined;
  const { url: busUrl } = broker ?? opening.use(await ownVirtualHost());
  const redis = opening.use(await startOwnRedis());
  for (const prefix of ["rockbot", "fx"]) await ageClaims(redis.url, prefix);
  const folder = opening.use(temporaryFolder());
  folder.write("policy.yaml", POLICY);
  const env = {
    BUS_URL: busUrl,
    REDIS_URL: redis.url,
    POLICY_FILE: `${folder.path}/policy.yaml`,
    PACKAGES_FOLDER: `${folder.path}/packages`,
    SANDBOX_CEILING: "2",
    HEALTH_PORT: "0",
  };
  const start = (): Promise<RunningProcess> =>
    untilReady(
      "scripts-manager",
      startProgram("services/main.ts", { args: ["scripts-manager"], env, isFromSources: true }),
      '"msg":"ready"',
    );
  const ledger = opening.use(await createLedgerFile());
  const operatorKey = String(generateKeyPairSync("ed25519").publicKey.export({ type: "spki", format: "pem" }));
  opening.use(
    await startEffectService({
      busUrl,
      service: "fx",
      ledger: ledger.path,
      redis: { url: redis.url, prefix: "fx" },
      waiting: { policy: POLICY, operatorKey },
    }),
  );
  let manager = await start();
  opening.defer(() => manager[Symbol.asyncDispose]());
  const bus = opening.use(await connectBus(busUrl, { name: "test", drainMs: 1_000 }));
  const caller = opening.use(await createToolCaller(bus, { agent: "researcher" }));
  await caller.discovered();
  const opened = opening.move();
  return {
    caller,
    ledger,
    redis,
    broker,
    get manager() {
      return manager;
    },
    async killManager() {
      manager.kill("SIGKILL");
      await manager.ended;
      manager = await start();
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
