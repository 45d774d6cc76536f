import type { Bus } from "@rockbot/bus";
import { type ConnectBusOptions, connectBus } from "@rockbot/bus-rabbitmq";
import { ageClaims } from "@rockbot/records/claims/age";
import { createToolCaller, type ToolCaller } from "@rockbot/tools";
import { uniqueName } from "../broker/messages.ts";
import type { EffectServiceOptions } from "./effects/effect-service-options.ts";
import type { ToolKind } from "./effects/effect-tools.ts";
import { createLedgerFile, type LedgerFile } from "./effects/ledger-file.ts";

/** What a fault happens to: a service that is not started yet, its ledger, and a caller of its tools. */
export interface Scene extends AsyncDisposable {
  readonly bus: Bus;
  readonly caller: ToolCaller;
  readonly agent: string;
  readonly ledger: LedgerFile;
  /** To start the service with. */
  readonly service: EffectServiceOptions;
  tool(kind: ToolKind): string;
  /** Another caller on the same bus. */
  addCaller(name: string): Promise<ToolCaller>;
}

export interface SceneOptions {
  /** Where the service's claims are. @default in its process */
  readonly redisUrl?: string | undefined;
  /** True if that Redis loses nothing in this test. @default false */
  readonly keepsAll?: boolean | undefined;
  /** The way that the callers go to the bus. @default the service's */
  readonly callerUrl?: string | undefined;
  /** The versions of the callers' release. @default this one's */
  readonly queueVersions?: ConnectBusOptions["queueVersions"];
}

export async function openScene(
  busUrl: string,
  { redisUrl, keepsAll, callerUrl = busUrl, queueVersions }: SceneOptions = {},
): Promise<Scene> {
  const name = uniqueName();
  await using opening = new AsyncDisposableStack();
  if (redisUrl !== undefined) await ageClaims(redisUrl, name);
  const ledger = opening.use(await createLedgerFile());
  const bus = opening.use(await connectBus(callerUrl, { name: "faults", drainMs: 1_000, queueVersions }));
  const agent = `agent-${name}`;
  const caller = opening.use(await createToolCaller(bus, { agent }));
  const opened = opening.move();
  return {
    bus,
    caller,
    agent,
    ledger,
    service: {
      busUrl,
      service: name,
      ledger: ledger.path,
      redis: redisUrl === undefined ? undefined : { url: redisUrl, prefix: name, keepsAll },
    },
    tool: (kind) => `${kind}_${name}`,
    addCaller: async (more) => opened.use(await createToolCaller(bus, { agent: `${more}-${name}` })),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
