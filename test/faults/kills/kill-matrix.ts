import { connectBus } from "@rockbot/bus-rabbitmq";
import { ageClaims } from "@rockbot/records/claims/age";
import { createToolCaller } from "@rockbot/tools";
import { uniqueName } from "../../broker/messages.ts";
import { countOutcomes, type SettledCall, settleCall } from "../agent/settle-calls.ts";
import { type ToolKind, toolKinds } from "../effects/effect-tools.ts";
import { createLedgerFile } from "../effects/ledger-file.ts";
import { startEffectService } from "../effects/start-effect-service.ts";
import type { KillPoint } from "./kill-point.ts";

/** What became of the calls of one kind over which a service died at one point. */
export interface KillMatrixRow {
  readonly point: KillPoint;
  readonly claims: "in Redis" | "in process";
  readonly kind: ToolKind;
  readonly calls: number;
  /** The number of calls by how they ended at the caller. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Calls with no effect, with one, and with more. */
  readonly effects: { readonly none: number; readonly one: number; readonly more: number };
  /** Answers that belong to another call, or say that a call ran that did not. */
  readonly wrong: readonly SettledCall[];
  readonly late: number;
}

export interface KillMatrixOptions {
  readonly busUrl: string;
  readonly redisUrl: string | undefined;
  readonly point: KillPoint;
  /** The calls of each kind, at the point when the service dies. */
  readonly callsPerKind: number;
}

const DEADLINE_MS = 40_000;

/**
 * Has a service die over calls of each kind at one point, starts another in its place, and looks what became of the
 * calls.
 */
export async function killServiceAt({
  busUrl,
  redisUrl,
  point,
  callsPerKind,
}: KillMatrixOptions): Promise<KillMatrixRow[]> {
  const service = uniqueName();
  await using ledger = await createLedgerFile();
  const redis = redisUrl === undefined ? undefined : { url: redisUrl, prefix: service };
  if (redis !== undefined) await ageClaims(redis.url, redis.prefix);
  const options = { busUrl, redis, service, ledger: ledger.path, concurrency: callsPerKind * toolKinds.length };
  await using victim = await startEffectService({
    ...options,
    killAt: point,
    killCalls: callsPerKind * toolKinds.length,
  });
  await using bus = await connectBus(busUrl, { name: "kill-matrix" });
  await using stack = new AsyncDisposableStack();
  const calls = await Promise.all(
    toolKinds.map(async (kind) => {
      const caller = stack.use(await createToolCaller(bus, { agent: `${kind}-${service}` }));
      await caller.discovered();
      return Array.from({ length: callsPerKind }, (_, index) =>
        settleCall(caller, `${kind}_${service}`, { id: `${kind}-${index}` }, { timeoutMs: DEADLINE_MS }),
      );
    }),
  );
  await victim.ended;
  await using _survivor = await startEffectService(options);
  const settled = await Promise.all(calls.map((ofKind) => Promise.all(ofKind)));
  const effects = await ledger.count("effect");
  return toolKinds.map((kind, index) => {
    const ofKind = settled[index] ?? [];
    const counts = ofKind.map(({ id }) => effects.get(id) ?? 0);
    return {
      point,
      claims: redisUrl === undefined ? "in process" : "in Redis",
      kind,
      calls: ofKind.length,
      outcomes: countOutcomes(ofKind),
      effects: {
        none: counts.filter((count) => count === 0).length,
        one: counts.filter((count) => count === 1).length,
        more: counts.filter((count) => count > 1).length,
      },
      wrong: ofKind.filter(({ id, outcome, content }) => outcome === "ok" && (content !== id || !effects.has(id))),
      late: ofKind.filter(({ isLate }) => isLate).length,
    };
  });
}
