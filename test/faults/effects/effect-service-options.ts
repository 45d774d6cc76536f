import type { ConnectBusOptions } from "@rockbot/bus-rabbitmq";
import type { KillPoint } from "../kills/kill-point.ts";

export interface EffectServiceOptions {
  readonly busUrl: string;
  /** Where its claims are; without it they are in its process. */
  readonly redis?:
    | { readonly url: string; readonly prefix: string; readonly keepsAll?: boolean | undefined }
    | undefined;
  /** Its name. Its tools are called `read_{service}`, `repeat_{service}`, `effect_{service}`: many share a bus. */
  readonly service: string;
  /** The file that it appends to. */
  readonly ledger: string;
  /**
   * Serves as a deployment does: by a policy, to verified senders, limits counted in Redis, with an audit log, traces
   * and metrics by the process's environment.
   */
  readonly deployed?: { readonly policyFile: string; readonly auditFile: string } | undefined;
  /** Has calls wait for people: by the text of a policy, and the public key of the operators' door in PEM. */
  readonly waiting?: { readonly policy: string; readonly operatorKey: string } | undefined;
  /** Has calls of the read-only tool come by the fast lane. */
  readonly isFast?: boolean | undefined;
  readonly concurrency?: number | undefined;
  readonly heartbeatSeconds?: number | undefined;
  /** The versions of the release that it stands for. @default this one */
  readonly queueVersions?: ConnectBusOptions["queueVersions"];
  /** Where it kills itself, once so many calls are there. */
  readonly killAt?: KillPoint | undefined;
  readonly killCalls?: number | undefined;
}
