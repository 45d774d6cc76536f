import { MCP_BRIDGE, ToolError, ToolErrorCode } from "@rockbot/contracts";
import type { ToolCaller } from "@rockbot/tools";
import type { Commander } from "@rockbot/tools/commands";
import {
  A2A_PINS,
  type Approval,
  ApprovalCommand,
  type OperatorApprovals,
  REST_PINS,
  type Rejected,
  type StandingServer,
  type Waiting,
} from "@rockbot/trust";
import { askServices } from "../operators/ask-services.ts";

export interface CommandApprovalsParts {
  readonly caller: Pick<ToolCaller, "services">;
  /** Gives services commands. @default there are none, and each decision says what to set */
  readonly commander: Pick<Commander, "send"> | undefined;
}

/** The services that hold tools of strangers, with how the names begin under which they pin them. */
const HOLDERS = [
  { service: "rest-tools", prefix: REST_PINS },
  { service: "a2a", prefix: A2A_PINS },
  { service: MCP_BRIDGE, prefix: "" },
];
/** How long the instances of a service have to answer, in milliseconds. */
const ANSWER_MS = 3_000;

type Answer = Readonly<Record<string, unknown>>;
/** What services answered, and why some did not, in words. */
interface Heard {
  readonly answers: readonly Answer[];
  readonly problems: readonly string[];
}

/** Gives a command of a kind to services, each with its body. */
type Ask = (kind: string, bodies: ReadonlyMap<string, object>) => Promise<Heard>;

/** The decisions of an operator, made by signed commands to all services that hold tools of strangers. */
export const commandApprovals =
  (parts: CommandApprovalsParts) =>
  (operator: string): OperatorApprovals => {
    const ask = askHolders(parts, operator);
    return {
      waiting: () => read<Waiting>(ask, ApprovalCommand.Waiting, ["tools", "servers", "firstSeen", "sources"]),
      rejected: () => read<Rejected>(ask, ApprovalCommand.Rejected, ["tools", "servers"]),
      async approve(approval) {
        const { names: approved, ...rest } = await decide(ask, ApprovalCommand.Approve, approval, "approved");
        return { approved, ...rest };
      },
      async reject(rejection) {
        const { names: done, ...rest } = await decide(ask, ApprovalCommand.Reject, rejection, "done");
        return { done, ...rest };
      },
      async registered() {
        const { answers } = await ask(ApprovalCommand.Registered, new Map([[MCP_BRIDGE, {}]]));
        return withoutTwins(answers.flatMap((answer) => listIn<object>(answer, "servers"))) as StandingServer[];
      },
      async remove(servers) {
        const { names: done, ...rest } = await decide(ask, ApprovalCommand.Remove, { tools: [], servers }, "done");
        return { done, ...rest };
      },
    };
  };

/** @throws {ToolError} if no commands can be given */
const askHolders =
  ({ caller, commander }: CommandApprovalsParts, operator: string): Ask =>
  async (kind, bodies) => {
    if (commander === undefined)
      throw new ToolError(
        ToolErrorCode.Unavailable,
        'Cannot ask the services what waits there. Set OPERATOR_KEY of the gateway, and OPERATOR_PUBLIC_KEY of the services. Until then, "rockbot mcp approve" decides',
      );
    const question = { kind, operator, bodyOf: (service: string) => bodies.get(service), timeoutMs: ANSWER_MS };
    const { answers, problems } = await askServices({ caller, commander }, question);
    return { answers: answers.map(({ answer }) => answer), problems };
  };

/** What all holders of strangers' tools have in their lists. */
async function read<Lists extends object>(ask: Ask, kind: string, lists: readonly (keyof Lists & string)[]) {
  const { answers, problems } = await ask(kind, new Map(HOLDERS.map(({ service }) => [service, {}])));
  const joined = lists.map((name) => [name, withoutTwins(answers.flatMap((answer) => listIn<object>(answer, name)))]);
  const more = Math.max(0, ...answers.map(({ more: left }) => (typeof left === "number" ? left : 0)));
  return { ...(Object.fromEntries(joined) as Lists), more, problems };
}

/**
 * Has each service decide about its own part. A replica finds what another has decided already: so what any did is
 * done.
 * @param done the list of what was done, in their answers
 * @throws {ToolError} if nothing was decided, and a service said why
 */
async function decide(ask: Ask, kind: string, decided: Approval, done: string) {
  const { answers, problems } = await ask(kind, partsOf(decided));
  const names = new Set(answers.flatMap((answer) => listIn<string>(answer, done)));
  if (names.size === 0 && (problems.length > 0 || answers.length === 0))
    throw new ToolError(
      ToolErrorCode.Unavailable,
      `Nothing was decided: ${problems.join(". ") || "the service whose it is does not run"}`,
    );
  const asked = [
    ...decided.tools.map(({ server, tool }) => `${server}: ${tool}`),
    ...decided.servers.map(({ server }) => server),
  ];
  return { names: [...names], stale: asked.filter((name) => !names.has(name)), problems };
}

/** What of a decision is whose, by the service. */
function partsOf({ tools, servers, note }: Approval): ReadonlyMap<string, object> {
  const ownerOf = (server: string) => HOLDERS.find(({ prefix }) => server.startsWith(prefix))?.service;
  return new Map(
    HOLDERS.flatMap(({ service }) => {
      const own = {
        tools: tools.filter(({ server }) => ownerOf(server) === service),
        servers: servers.filter(({ server }) => ownerOf(server) === service),
        note,
      };
      return own.tools.length + own.servers.length === 0 ? [] : [[service, own] as const];
    }),
  );
}

const listIn = <T>(answer: Answer, name: string): readonly T[] =>
  Array.isArray(answer[name]) ? (answer[name] as T[]) : [];

/** Replicas tell the same of one store: each thing stands once. A source stands with its fault, if a replica has one. */
function withoutTwins(entries: readonly object[]): readonly object[] {
  const known = new Map<string, object>();
  for (const entry of entries) {
    const { server, tool, hash, digest, agent, kind, state } = entry as Readonly<Record<string, unknown>>;
    const key = JSON.stringify([server, tool, hash, digest, agent, kind]);
    if (!known.has(key) || (state !== undefined && state !== "ready")) known.set(key, entry);
  }
  return [...known.values()];
}
