import type { Logger } from "@rockbot/bus";
import type { SourceState } from "../pins/source-state.ts";
import type { TrustStore } from "../store/trust-store.ts";
import { type Approval, type ApprovalOutcome, approve, readWaiting, type Waiting } from "./approvals.ts";
import {
  type Rejected,
  type Rejection,
  readRejected,
  reject,
  type ShownServers,
  type StandingServer,
  type WithdrawalOutcome,
} from "./withdrawals.ts";

/**
 * Decisions of operators about what waits for them. Operators come by a socket or a token. Over the bus they come by
 * commands that their door has signed, and not otherwise.
 */
export interface ToolApprovals {
  /** The tools and servers that wait for an operator. @throws {StoreUnavailableError} */
  waiting(): Promise<Waiting>;
  /** Approves exactly what was shown, as the operator `by`. @throws {StoreUnavailableError} */
  approve(approval: Approval, by: string): Promise<ApprovalOutcome>;
  /**
   * The tools and servers that operators have refused, which can be approved after all.
   * @throws {StoreUnavailableError}
   */
  rejected(): Promise<Rejected>;
  /** Refuses definitions that are held, and servers that agents ask for. @throws {StoreUnavailableError} */
  reject(rejection: Rejection, by: string): Promise<WithdrawalOutcome>;
}

/** Decisions of operators about MCP servers, too. */
export interface OperatorApprovals extends ToolApprovals {
  /** The servers that agents have registered. @throws {StoreUnavailableError} */
  registered(): Promise<readonly StandingServer[]>;
  /** Takes registered servers away, from all bridges that share the store. @throws {StoreUnavailableError} */
  remove(servers: ShownServers, by: string): Promise<WithdrawalOutcome>;
}

/** The part of the store that is a service's own, and what it does with decisions. */
export interface ToolApprovalsOptions {
  readonly log: Logger;
  /** How the service's servers, documents or agents stand now. */
  readonly sources: () => readonly SourceState[];
  /** True for a name of this service: others may use the same store. */
  readonly owns: (server: string) => boolean;
  /** Has the service go by what was decided. @default it looks by itself */
  readonly takeIn?: (() => Promise<void>) | undefined;
}

interface Shown {
  readonly tools: readonly { readonly server: string }[];
  readonly servers: readonly { readonly server: string }[];
}

/**
 * The decisions of operators about a service's own part of a store. It leaves to other services what is said of theirs.
 */
export function createToolApprovals(
  store: TrustStore,
  { log, owns, sources, takeIn = async () => {} }: ToolApprovalsOptions,
): ToolApprovals {
  const own = <S extends Shown>(shown: S): S => ({
    ...shown,
    tools: shown.tools.filter(({ server }) => owns(server)),
    servers: shown.servers.filter(({ server }) => owns(server)),
  });
  return {
    async waiting() {
      const { firstSeen = [], ...shown } = own(await readWaiting(store));
      return { ...shown, firstSeen: firstSeen.filter(({ server }) => owns(server)), sources: sources() };
    },
    async approve(approval, by) {
      const outcome = await approve(store, own(approval), by);
      log.info({ operator: by, note: approval.note, ...outcome }, "an operator approved tools or servers");
      await takeIn();
      return outcome;
    },
    rejected: async () => own(await readRejected(store)),
    async reject(rejection, by) {
      const outcome = await reject(store, own(rejection), by);
      log.info({ operator: by, note: rejection.note, ...outcome }, "an operator rejected tools or servers");
      await takeIn();
      return outcome;
    },
  };
}
