import { backoffMs, pause } from "@rockbot/base";
import type { BusRights } from "@rockbot/policy";
import {
  type BrokerDefinitions,
  type BrokerDefinitionsOptions,
  brokerDefinitions,
} from "../definitions/broker-definitions.ts";
import { readBrokerState } from "./broker-state.ts";
import { BrokerNotReadyError, BrokerRefusedError, ManagementApi } from "./management-api.ts";
import { planChanges } from "./plan-changes.ts";

/** Where the broker is, how long it may take, and who hears of it. */
export interface ApplyRightsOptions extends BrokerDefinitionsOptions {
  /** `http(s)://user:password@host:15672`, of a user with the tag `administrator`. */
  readonly managementUrl: string;
  /** How long the broker may take until it is ready and has it all. @default 300_000 */
  readonly timeoutMs?: number | undefined;
  /** Hears why it waits, each time that the reason is another. */
  readonly onWait?: ((reason: string) => void) | undefined;
  /** Hears of each change that the broker has made. */
  readonly onChange?: ((what: string) => void) | undefined;
}

/** The broker does not have the rights, or not all of them. Every fault is in it, in words. */
export class ApplyRightsError extends Error {
  override readonly name = "ApplyRightsError";
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join("\n"));
    this.faults = faults;
  }
}

/** A broker that starts has its ports before it has its users: a refused login counts only if it lasts. */
const REFUSED_MS = 15_000;
/** A broker that has taken the changes has them at the second look. */
const MAX_ROUNDS = 4;

/**
 * Brings a running RabbitMQ, versions 3.10 to 4, to what `brokerDefinitions` defines for these users. RockBot's users
 * that are no longer among them lose their rights. It reads first, changes what differs, and looks again. So a second
 * run changes nothing.
 * @returns the number of changes
 * @throws {RangeError} if the address cannot be read, or a user has no password
 * @throws {ApplyRightsError}
 */
export async function applyRights(users: readonly BusRights[], options: ApplyRightsOptions): Promise<number> {
  const { managementUrl, timeoutMs = 300_000, onWait = () => {} } = options;
  const api = new ManagementApi(managementUrl);
  const wanted = brokerDefinitions(users, options);
  const until = performance.now() + timeoutMs;
  let refusedAt: number | undefined;
  let lastReason: string | undefined;
  let made = 0;
  for (let [failures, rounds] = [0, 0]; ; ) {
    try {
      const changes = await applyOnce(api, wanted, options);
      made += changes;
      if (changes === 0) return made;
      if (++rounds === MAX_ROUNDS)
        throw new ApplyRightsError([
          `${api.label} takes the changes, and does not have them at the next look. Does something else change its users?`,
        ]);
    } catch (error) {
      const isRefusal = error instanceof BrokerRefusedError;
      if (!isRefusal && !(error instanceof BrokerNotReadyError)) throw error;
      const now = performance.now();
      refusedAt = isRefusal ? (refusedAt ?? now) : undefined;
      if (refusedAt !== undefined && now - refusedAt >= REFUSED_MS)
        throw new ApplyRightsError([
          `${api.label} refuses the user of the management URL (${error.message}). It needs the tag administrator`,
        ]);
      const waitMs = backoffMs(++failures, { baseMs: 250, maxMs: 3_000, leastPart: 0.5 });
      if (now + waitMs >= until)
        throw new ApplyRightsError([`${api.label} was not ready within ${timeoutMs / 1000} s (${error.message})`]);
      if (error.message !== lastReason) onWait(`${api.label}: ${error.message}`);
      lastReason = error.message;
      await pause(waitMs);
    }
  }
}

/**
 * One look, and the changes that follow from it.
 * @returns their number
 * @throws {ApplyRightsError} with every fault, after all that could be done
 */
async function applyOnce(
  api: ManagementApi,
  wanted: BrokerDefinitions,
  { vhost = "/", passwords, onChange = () => {} }: ApplyRightsOptions,
): Promise<number> {
  const state = await readBrokerState(
    api,
    vhost,
    wanted.exchanges.map(({ name }) => name),
  );
  const { changes, faults } = planChanges(state, wanted, vhost, passwords);
  if (faults.length > 0) throw new ApplyRightsError(faults); // before anything is changed
  const refused: string[] = [];
  for (const change of changes) {
    try {
      await api.change(change);
      onChange(change.what);
    } catch (error) {
      if (!(error instanceof BrokerRefusedError)) throw error;
      refused.push(`${api.label} refuses to ${change.what} (${error.message})`);
    }
  }
  if (refused.length > 0) throw new ApplyRightsError(refused);
  return changes.length;
}
