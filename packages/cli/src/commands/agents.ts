import { userInfo } from "node:os";
import { join } from "node:path";
import type { KeptRecord } from "@rockbot/agent";
import { printable } from "@rockbot/contracts";
import { openApprovalAudit } from "../client/agents/approval-audit.ts";
import { callerFaults } from "../client/agents/caller-faults.ts";
import { type MadeByCaller, withMadeByCallers } from "../client/agents/made-by-callers.ts";
import { CommandError } from "../command-error.ts";
import { ExitCode } from "../exit-code.ts";
import { isConfirmed } from "../terminal/is-confirmed.ts";
import { UsageError } from "../usage-error.ts";

export interface AgentsListOptions {
  readonly json?: boolean;
  /** The caller whose view it is. */
  readonly for?: string;
}

export interface AgentsShowOptions extends AgentsListOptions {
  readonly session?: boolean;
  readonly bus?: string;
}

export interface AgentsApproveOptions {
  /** The audit log of approvals. */
  readonly audit?: string;
  readonly yes?: boolean;
  readonly withdraw?: boolean;
}

/** The longest line of a list. What an operator approves is shown in full. */
const MAX_LINE = 2_000;

/** `rockbot agents ls`: what all callers have made, or what one of them sees. */
export async function listAgents({ json = false, for: seenBy }: AgentsListOptions): Promise<void> {
  checkCaller(seenBy);
  await withMadeByCallers(
    async (all, where) => {
      if (json) return console.log(JSON.stringify(all.map(entryOf), undefined, 2));
      for (const made of all) {
        const { kind, record, summary } = made;
        const notes = [record.isUntrusted ? "untrusted" : undefined, summary].filter(Boolean).join(", ");
        console.log(
          printable(
            `${record.id}  ${kind}  ${nameOf(made)}  version ${record.version}  ${stateOf(record)}  ${notes}`,
            MAX_LINE,
          ),
        );
      }
      const waiting = all.filter(({ record }) => stateOf(record) !== "shared").length;
      console.error(
        seenBy === undefined
          ? `${all.length} in ${where}; ${waiting} of them only their makers see. To share one: rockbot agents approve NAME`
          : `${all.length} in ${where} are what ${seenBy} sees. Whether it may use one: rockbot policy explain ${seenBy} agent__NAME`,
      );
    },
    { seenBy },
  );
}

/** `rockbot agents show`: all that a model reads of an agent, a skill or a wisp, or what a session has led to. */
export async function showAgent(named: string, options: AgentsShowOptions): Promise<void> {
  const { json = false, session = false, for: seenBy } = options;
  if (session) return (await import("./agents-run.ts")).showSession(named, options);
  checkCaller(seenBy);
  const show = (made: MadeByCaller): void =>
    json ? console.log(JSON.stringify({ ...entryOf(made), ...made.content }, undefined, 2)) : printAll(made);
  await withMadeByCallers(async (all, where) => show(chosen(all, named, where)), { seenBy });
}

/** @throws {UsageError} */
function checkCaller(caller: string | undefined): void {
  const faults = callerFaults(caller);
  if (faults.length > 0) throw new UsageError(faults);
}

/** `rockbot agents approve`: shares exactly what it has shown, or shares it no more. */
export async function approveAgent(
  named: string,
  { yes = false, withdraw = false, audit }: AgentsApproveOptions,
): Promise<void> {
  await withMadeByCallers(async (all, where, { dataDirectory }) => {
    const made = chosen(all, named, where);
    printAll(made);
    const name = printable(nameOf(made));
    const { record, approve } = made;
    if (approve === undefined)
      throw new CommandError(
        `${name} is of the file of AGENTS_FILE, whose agents are shared as they are. Change the file`,
      );
    if (!yes && !(await isConfirmed(withdraw ? "Share this no more?" : "Share this with every caller?"))) {
      console.error(`Nothing is changed. Add --yes to ${withdraw ? "withdraw" : "approve"} what is shown here`);
      process.exitCode = ExitCode.Failed;
      return;
    }
    await using log = await openApprovalAudit(audit ?? join(dataDirectory, "approvals.audit"));
    const outcome = await approve(withdraw ? undefined : record.hash);
    if (outcome === "gone") throw new CommandError(`${name} is not there any more`);
    if (outcome === "stale")
      throw new CommandError(`not approved, as it is not any more what was shown: ${name}. Look again`);
    const event = withdraw ? "withdrawn" : "approved";
    const { kind } = made;
    await log.write({
      event,
      service: "agent",
      by: userInfo().username,
      kind,
      maker: record.maker,
      name: record.name,
      version: record.version,
      contentHash: record.hash,
    });
    if (!log.isWriting)
      throw new CommandError(
        `${event} ${name}, version ${record.version}, and could not write that to the audit log ${log.path}`,
      );
    console.error(`${withdraw ? "withdrew" : "approved"} ${name}, version ${record.version}`);
  });
}

/** One by its id, its name, MAKER/NAME, or either after its kind and a colon. @throws {CommandError} */
function chosen(all: readonly MadeByCaller[], named: string, where: string): MadeByCaller {
  const found = all.filter((made) => {
    const { kind, record } = made;
    const names = [record.id, record.name, nameOf(made)];
    return names.some((name) => name === named || `${kind}:${name}` === named);
  });
  const [made] = found;
  if (made === undefined)
    throw new CommandError(
      `There is no agent, skill or wisp ${printable(named)} in ${where}: "rockbot agents ls" lists those that there are. What a conversation has led to: "rockbot agents show --session NAME"`,
    );
  if (found.length > 1) {
    const areOfOneKind = found.every(({ kind }) => kind === made.kind);
    const names = found.map((each) => printable(areOfOneKind ? nameOf(each) : `${each.kind}:${nameOf(each)}`));
    throw new CommandError(
      `${found.length} ${areOfOneKind ? `${made.kind}s` : "of them"} are called ${printable(named)}: name one of ${names.join(", ")}`,
    );
  }
  return made;
}

const nameOf = ({ record: { maker, name } }: MadeByCaller): string => `${maker}/${name}`;

const stateOf = ({ approvedHash, hash }: KeptRecord): string =>
  approvedHash === hash ? "shared" : approvedHash === undefined ? "not approved" : "changed since its approval";

function entryOf({ kind, record, summary }: MadeByCaller) {
  const { id, maker, name, isUntrusted, version, hash } = record;
  return { id, kind, maker, name, state: stateOf(record), summary, isUntrusted, version, hash };
}

function printAll(made: MadeByCaller): void {
  const { kind, record, lines } = made;
  const head = [
    `${kind} ${nameOf(made)}, version ${record.version}: ${stateOf(record)}`,
    `  hash          ${record.hash}`,
    ...(record.isUntrusted
      ? ["  untrusted     a turn has written it that had read strangers' content: models read it fenced"]
      : []),
    ...(record.grant === undefined || record.grant === "[]" ? [] : [`  grant         ${record.grant}`]), // what bounds it besides
  ];
  for (const line of [...head, ...lines]) console.log(printable(line, Number.POSITIVE_INFINITY));
}
