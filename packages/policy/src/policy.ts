import { createHash } from "node:crypto";
import { RecentMap } from "@rockbot/base";
import { dangerousToolNames, tools } from "@rockbot/contracts";
import { delegatesOf } from "./delegates.ts";
import type { ArgumentRule } from "./document/argument-rules.ts";
import { entries, type PolicyPath } from "./document/document-place.ts";
import type { PolicySource } from "./document/read-policy.ts";
import type { PolicyCaller, PolicyDocument, PolicyEveryone, PolicyQueue, PolicyRule } from "./generated/policy.ts";
import { type MessageKind, type MessageLimits, messageKinds, messageLimits } from "./message-limits.ts";
import { findGlob } from "./tool-glob.ts";

/** One use of a tool by a caller. */
export interface Use {
  /** The effective caller. */
  readonly caller: string;
  readonly tool: string;
  /**
   * A policy allows a dangerous tool only where it names the tool in full.
   * @default false, but for the names that are known as dangerous
   */
  readonly isDangerous?: boolean | undefined;
  /** Whether the tool has no effects, as who runs it says. @default false */
  readonly isReadOnly?: boolean | undefined;
  /**
   * Whether untrusted content led to the call. It restricts only: what is denied without it is denied with it.
   * @default false
   */
  readonly hasReadUntrusted?: boolean | undefined;
}

/**
 * An amount that can be used up, and comes back with time: at most `amount`, and as much again in `perMs` milliseconds.
 */
export interface RateLimit {
  /** The name of the calls that are counted together. */
  readonly key: string;
  /** Whether the calls of this tool are counted, or those of all. */
  readonly scope: "tool" | "caller";
  readonly amount: number;
  readonly perMs: number;
}

/**
 * A policy's decision about one caller's use of one tool. It is mostly the same object as long as the policy is the
 * same.
 */
export interface Decision {
  readonly isAllowed: boolean;
  /** The rule that decided, and its place. For operators: not for the caller. */
  readonly because: string;
  /** Set if it would be allowed had no untrusted content been read before. */
  readonly isDeniedAfterUntrusted?: true | undefined;
  /** Of the policy that decided. */
  readonly revision: string;
  /** Each call takes one from all of them: those of this tool, and those over all tools. */
  readonly rates: readonly RateLimit[];
  /** Takes the bytes of arguments and results. */
  readonly bytes?: RateLimit | undefined;
  /** Takes the seconds that scripts run. */
  readonly scriptSeconds?: RateLimit | undefined;
  /** Calls of this tool by this caller that run at once in one instance. */
  readonly concurrency?: number | undefined;
  /** How old a kept answer may be, at most; 0 is never from what is kept. */
  readonly cacheSeconds?: number | undefined;
  readonly timeoutMs?: number | undefined;
  /** All of them must be fulfilled. */
  readonly argumentRules: readonly ArgumentRule[];
  /** Calls by this caller, of all tools, at once in one instance. */
  readonly inFlight: number;
  /** Calls that may stand between the first and this one. */
  readonly depth: number;
  /** The queue that the tool stands in, with others. */
  readonly queue?: ({ readonly name: string } & Pick<PolicyQueue, "concurrency" | "waiting">) | undefined;
}

/** One revision of a policy. */
export interface Policy {
  readonly revision: string;
  /** The file's content with all defaults. */
  readonly document: PolicyDocument;
  /** The policy's decision on this use. Costs next to nothing for one that was asked for before. */
  decide(use: Use): Decision;
  /**
   * The messages of each kind that a process takes from this caller. It is the same object as long as the policy is the
   * same, mostly.
   */
  messagesOf(caller: string): MessageLimits;
  /** What the turns of this caller may cost, over all its sessions; undefined if there is no limit. */
  costOf(caller: string): RateLimit | undefined;
  /** How many calls this caller may have at once in one instance of a service, over all tools. */
  inFlightOf(caller: string): number;
  /**
   * The name by which a service knows the credential of this kind that this caller's calls use: its own, else
   * everyone's. It is no secret.
   * @returns `ANY` if the policy names none of this kind for anybody: the service's own choice; undefined if this
   * caller has none
   */
  credentialOf(caller: string, kind: string): string | undefined;
  /**
   * The names of the folders that workspace tools open for this caller.
   * @returns undefined if the policy names none for anybody: all of the service's
   */
  rootsOf(caller: string): readonly string[] | undefined;
  /** What this caller's commands may reach over the network, as `host:port`. */
  hostsOf(caller: string): readonly string[];
  /**
   * The spaces of the knowledge base that this caller opens.
   * @returns undefined if the policy names none for anybody: what is shared
   */
  spacesOf(caller: string): readonly string[] | undefined;
  /** Those that every caller opens, named or not. @returns undefined likewise */
  commonSpaces(): readonly string[] | undefined;
  /** The same for people, with all that was looked at and the lines where it stands. */
  explain(use: Use): string[];
}

/** Stands for any credential; no name can be this. */
export const ANY = "*";

const DEFAULT_IN_FLIGHT = 256;
const DEFAULT_DEPTH = 8;

/** These are dangerous, whatever an announcement says of them: it may add the flag, and not take it away. */
const DANGEROUS: ReadonlySet<string> = new Set(dangerousToolNames);
/** Their effects are those of the calls that they make, which are marked as they are, and decided one by one. */
const ONLY_CALLS: ReadonlySet<string> = new Set([tools.agentChat.name, tools.mcpInvokeTool.name]);
/** Calls for everybody who asks it, also where the policy does not name it as a delegate and has no tokens. */
const GATEWAY = "gateway";
/** What they register belongs to one caller, so nobody has them who calls for others. */
const NOT_FOR_DELEGATES: ReadonlySet<string> = new Set([tools.mcpRegisterServer.name, tools.mcpUnregisterServer.name]);
/** Decisions that are remembered; callers and tools are few, names that peers make up are not. */
const MAX_REMEMBERED = 10_000;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Uses of a tool by a caller that may be decided differently. */
const KINDS_OF_USE = 4;
const kindOf = (use: Use): number => (use.isDangerous ? 1 : 0) + (hasEffectsAfterUntrusted(use) ? 2 : 0);
const hasEffectsAfterUntrusted = (use: Use): boolean => use.hasReadUntrusted === true && mayHaveEffects(use);
const mayHaveEffects = ({ tool, isReadOnly = false }: Use): boolean => !isReadOnly && !ONLY_CALLS.has(tool);

/**
 * True if a caller may own what it registers. A policy never says so of a delegate, so it must not of any other caller
 * that several people share.
 */
export const mayOwnServers = (policy: Pick<Policy, "decide">, caller: string): boolean =>
  [...NOT_FOR_DELEGATES].some((tool) => policy.decide({ caller, tool }).isAllowed);

/** Makes a policy of what a file says. */
export function createPolicy(source: PolicySource): Policy {
  const { document, revision } = source;
  const judge = new Judge(source);
  const remembered = Array.from({ length: KINDS_OF_USE }, () => new Map<string, Map<string, Decision>>());
  let count = 0;
  const flows = new RecentMap<string, MessageLimits>(MAX_REMEMBERED);

  return {
    revision,
    document,
    decide(use) {
      const { caller, tool } = use;
      const known = remembered[kindOf(use)] as Map<string, Map<string, Decision>>;
      const decision = known.get(caller)?.get(tool);
      if (decision !== undefined) return decision;
      if (count >= MAX_REMEMBERED) {
        for (const decisions of remembered) decisions.clear();
        count = 0;
      }
      const made = judge.judge(use);
      const ofCaller = known.get(caller) ?? new Map<string, Decision>();
      known.set(caller, ofCaller.set(tool, made));
      count++;
      return made;
    },
    costOf: (caller) => judge.costOf(caller),
    inFlightOf: (caller) => judge.inFlightOf(caller),
    credentialOf: (caller, kind) => (judge.kinds.has(kind) ? judge.credentialsOf(caller).get(kind) : ANY),
    rootsOf: (caller) => judge.listOf("roots", caller),
    hostsOf: (caller) => judge.listOf("hosts", caller) ?? [],
    spacesOf: (caller) => judge.listOf("spaces", caller),
    commonSpaces: () => judge.commonSpaces(),
    messagesOf(caller) {
      const known = flows.get(caller);
      if (known !== undefined) return known;
      const limits = judge.messagesOf(caller);
      flows.set(caller, limits);
      return limits;
    },
    explain: (use) => judge.explain(use),
  };
}

type Verdict = Pick<Decision, "isAllowed" | "because" | "isDeniedAfterUntrusted">;

/** The decisions of one revision, made anew for each question. */
class Judge {
  readonly #source: PolicySource;
  readonly #callers: ReadonlyMap<string, PolicyCaller>;
  readonly #queues: ReturnType<typeof entries<PolicyQueue>>;
  /** Whom the policy says something of: everyone, and those that it names. */
  readonly #all: readonly (PolicyEveryone | PolicyCaller)[];
  /** Of the credentials that the policy names. */
  readonly kinds: ReadonlySet<string>;

  constructor(source: PolicySource) {
    this.#source = source;
    this.#callers = new Map(entries(source.document.callers));
    this.#queues = entries(source.document.queues);
    this.#all = [source.document.everyone, ...this.#callers.values()];
    this.kinds = new Set(this.#all.flatMap(({ credentials = {} }) => Object.keys(credentials)));
  }

  judge(use: Use): Decision {
    const { caller, tool } = use;
    const rules = this.#rulesFor(use).map(({ rule }) => rule);
    const limits = { ...this.#source.document.everyone.limits, ...this.#callers.get(caller)?.limits };
    const rates = new Map<string, RateLimit>();
    const addRate = (scope: RateLimit["scope"], amount: number, perMs: number) => {
      const key = keyOf([scope, caller, scope === "tool" ? tool : "", String(amount), String(perMs)]);
      rates.set(key, { key, scope, amount, perMs });
    };
    for (const { rate } of rules) if (rate !== undefined) addRate("tool", rate.calls, rate.perSeconds * 1_000);
    if (limits.callsPerSecond !== undefined) {
      const amount = Math.max(1, limits.callsPerSecond);
      addRate("caller", amount, (amount / limits.callsPerSecond) * 1_000);
    }
    const queue = this.#queues.find(([, { tools }]) => findGlob(tools, tool) !== undefined);
    return {
      ...this.#narrowed(use, this.#verdict(use)),
      revision: this.#source.revision,
      rates: [...rates.values()],
      bytes:
        limits.bytesPerDay === undefined
          ? undefined
          : { key: keyOf(["bytes", caller]), scope: "caller", amount: limits.bytesPerDay, perMs: DAY_MS },
      scriptSeconds:
        limits.scriptSecondsPerHour === undefined
          ? undefined
          : {
              key: keyOf(["script seconds", caller]),
              scope: "caller",
              amount: limits.scriptSecondsPerHour,
              perMs: HOUR_MS,
            },
      concurrency: least(rules.map(({ concurrency }) => concurrency)),
      cacheSeconds: least(rules.map(({ cacheSeconds }) => cacheSeconds)),
      timeoutMs: least(rules.map(({ timeoutMs }) => timeoutMs)),
      argumentRules: rules.flatMap((rule) => this.#source.argumentRules.get(rule) ?? []),
      inFlight: limits.inFlight ?? DEFAULT_IN_FLIGHT,
      depth: limits.depth ?? DEFAULT_DEPTH,
      queue:
        queue === undefined
          ? undefined
          : { name: queue[0], concurrency: queue[1].concurrency, waiting: queue[1].waiting },
    };
  }

  costOf(caller: string): RateLimit | undefined {
    const { costPerDay } = { ...this.#source.document.everyone.limits, ...this.#callers.get(caller)?.limits };
    return costPerDay === undefined
      ? undefined
      : { key: keyOf(["cost", caller]), scope: "caller", amount: costPerDay, perMs: DAY_MS };
  }

  /** The same as `judge` for people, with all that was looked at and the lines where it stands. */
  explain(use: Use): string[] {
    const { isAllowed, because, inFlight, depth, queue } = this.judge({ ...use, hasReadUntrusted: false });
    const limits = { ...this.#source.document.everyone.limits, ...this.#callers.get(use.caller)?.limits };
    return [
      `"${use.caller}" ${isAllowed ? "may" : "may not"} use "${use.tool}": ${because}`,
      `revision ${this.#source.revision}${this.#callers.has(use.caller) ? "" : `; "${use.caller}" is not named, so what stands under everyone holds`}`,
      ...(isAllowed ? [`once untrusted content was read: ${this.#explainAfterUntrusted(use)}`] : []),
      ...this.#rulesFor(use).flatMap(({ rule, path }) =>
        describeRule(rule).map((words) => `${words}: ${this.#at(path)}`),
      ),
      ...(limits.callsPerSecond === undefined ? [] : [`at most ${limits.callsPerSecond} calls a second of all tools`]),
      ...(limits.costPerDay === undefined ? [] : [`turns of the agent may cost ${limits.costPerDay} a day`]),
      ...(limits.bytesPerDay === undefined
        ? []
        : [`at most ${limits.bytesPerDay} bytes a day, arguments and results together`]),
      ...(limits.scriptSecondsPerHour === undefined
        ? []
        : [`scripts that run at most ${limits.scriptSecondsPerHour} s an hour, added up`]),
      `at most ${inFlight} calls at once of all tools, in one instance of a service`,
      `at most ${depth} calls between the first and this one`,
      ...describeMessages(this.messagesOf(use.caller)),
      ...[...this.credentialsOf(use.caller)].map(([kind, name]) => `uses the credential ${kind}: ${name}`),
      ...(this.listOf("roots", use.caller) ?? []).map((root) => `opens the root ${root}`),
      ...(this.listOf("hosts", use.caller) ?? []).map((host) => `reaches ${host} from commands`),
      ...(this.listOf("spaces", use.caller) ?? []).map((space) => `opens the space ${space} of the knowledge base`),
      ...(queue === undefined
        ? []
        : [
            `at most ${queue.concurrency} calls at once by all callers, ${queue.waiting} waiting, in one instance: ${this.#at(["queues", queue.name])}`,
          ]),
    ];
  }

  #explainAfterUntrusted(use: Use): string {
    if (!mayHaveEffects(use))
      return use.isReadOnly
        ? "allowed, as the tool is read-only"
        : "allowed, as the policy decides on each call that the tool makes";
    const { isAllowed, because } = this.#effectsAfterUntrusted(use);
    return `${isAllowed ? "allowed" : use.isReadOnly === false ? "denied" : "denied, unless the tool is read-only"}: ${because}`;
  }

  inFlightOf(caller: string): number {
    return (
      this.#callers.get(caller)?.limits.inFlight ?? this.#source.document.everyone.limits.inFlight ?? DEFAULT_IN_FLIGHT
    );
  }

  /** By their kinds. */
  credentialsOf(caller: string): ReadonlyMap<string, string> {
    const { credentials: everyones = {} } = this.#source.document.everyone;
    return new Map([...entries(everyones), ...entries(this.#callers.get(caller)?.credentials ?? {})]);
  }

  /** The caller's own list, else everyone's; without those none if anybody has one. */
  listOf(list: "roots" | "hosts" | "spaces", caller: string): readonly string[] | undefined {
    return (
      this.#callers.get(caller)?.[list] ??
      this.#source.document.everyone[list] ??
      (this.#all.some((each) => each[list] !== undefined) ? [] : undefined)
    );
  }

  commonSpaces(): readonly string[] | undefined {
    const { spaces: everyones } = this.#source.document.everyone;
    if (this.#all.every(({ spaces }) => spaces === undefined)) return undefined;
    return (everyones ?? []).filter((space) => this.#all.every(({ spaces = everyones }) => spaces?.includes(space)));
  }

  messagesOf(caller: string): MessageLimits {
    return messageLimits(this.#source.document.everyone.limits, this.#callers.get(caller)?.limits);
  }

  #verdict({ caller, tool, isDangerous = false }: Use): Verdict {
    const own = this.#callers.get(caller);
    const denying: [PolicyPath, readonly string[]][] = [
      [["everyone", "deny"], this.#source.document.everyone.deny ?? []],
      [["callers", caller, "deny"], own?.deny ?? []],
    ];
    for (const [path, globs] of denying) {
      const glob = findGlob(globs, tool);
      if (glob !== undefined)
        return { isAllowed: false, because: `"${glob}" in ${this.#at([...path, globs.indexOf(glob)])}` };
    }
    const user = own?.user === undefined ? caller : own.user;
    const callsForOthers = (): boolean =>
      user === GATEWAY || delegatesOf(this.#source.document).some((delegate) => delegate.user === user);
    if (NOT_FOR_DELEGATES.has(tool) && callsForOthers())
      return { isAllowed: false, because: `"${caller}" calls for others, who would share what it registers` };
    const [path, allowed]: [PolicyPath, readonly string[]] =
      own?.allow === undefined
        ? [["everyone", "allow"], this.#source.document.everyone.allow]
        : [["callers", caller, "allow"], own.allow];
    if (isDangerous || DANGEROUS.has(tool)) {
      const index = allowed.indexOf(tool);
      return index < 0
        ? { isAllowed: false, because: `the tool is dangerous, and nothing in ${this.#at(path)} names it in full` }
        : { isAllowed: true, because: `"${tool}" in ${this.#at([...path, index])}` };
    }
    const glob = findGlob(allowed, tool);
    if (glob === undefined) return { isAllowed: false, because: `nothing in ${this.#at(path)} names it` };
    return { isAllowed: true, because: `"${glob}" in ${this.#at([...path, allowed.indexOf(glob)])}` };
  }

  /** Denies what the verdict allows, and never the other way round. */
  #narrowed(use: Use, verdict: Verdict): Verdict {
    if (!verdict.isAllowed || !hasEffectsAfterUntrusted(use)) return verdict;
    const { isAllowed, because } = this.#effectsAfterUntrusted(use);
    if (isAllowed) return verdict;
    return { isAllowed, because: `untrusted content was read before, and ${because}`, isDeniedAfterUntrusted: true };
  }

  /** What is said of tools with effects once untrusted content was read. */
  #effectsAfterUntrusted({ caller, tool }: Use): Verdict {
    const own = this.#callers.get(caller)?.afterUntrusted;
    const { effects, allow = [] } = own ?? this.#source.document.everyone.afterUntrusted ?? {};
    if (effects !== "deny") return { isAllowed: true, because: "nothing denies it then" };
    const path: PolicyPath = [...(own === undefined ? ["everyone"] : ["callers", caller]), "afterUntrusted"];
    const index = allow.indexOf(tool);
    if (index >= 0) return { isAllowed: true, because: `"${tool}" in ${this.#at([...path, "allow", index])}` };
    return { isAllowed: false, because: `nothing in ${this.#at(path)} names it` };
  }

  #rulesFor({ caller, tool }: Use): { readonly rule: PolicyRule; readonly path: PolicyPath }[] {
    const from = ({ rules }: PolicyEveryone | PolicyCaller, path: PolicyPath) =>
      rules.flatMap((rule, i) =>
        findGlob(rule.tools, tool) === undefined ? [] : [{ rule, path: [...path, "rules", i] }],
      );
    const own = this.#callers.get(caller);
    return [
      ...from(this.#source.document.everyone, ["everyone"]),
      ...(own === undefined ? [] : from(own, ["callers", caller])),
    ];
  }

  #at(path: PolicyPath): string {
    const line = this.#source.lineOf(path);
    return line === undefined ? path.join(".") : `${path.join(".")}, line ${line}`;
  }
}

function describeMessages(limits: MessageLimits): string[] {
  const words = (kind: MessageKind): string =>
    `${kind} ${limits[kind].perSecond} and ${limits[kind].bytesPerSecond} bytes`;
  return [`messages that one process takes a second: ${messageKinds.map(words).join(", ")}`];
}

function describeRule({ rate, concurrency, cacheSeconds, timeoutMs, arguments: schema }: PolicyRule): string[] {
  return [
    ...(rate === undefined ? [] : [`at most ${rate.calls} calls in ${rate.perSeconds} s`]),
    ...(concurrency === undefined ? [] : [`at most ${concurrency} calls at once, in one instance of a service`]),
    ...(cacheSeconds === undefined
      ? []
      : [cacheSeconds === 0 ? "never a kept answer" : `no kept answer older than ${cacheSeconds} s`]),
    ...(timeoutMs === undefined ? [] : [`at most ${timeoutMs} ms a call`]),
    ...(schema === undefined ? [] : ["only arguments that fit a schema"]),
  ];
}

/** As short for any names, and the same for no others. */
const keyOf = (parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 22);

function least(numbers: readonly (number | undefined)[]): number | undefined {
  const set = numbers.filter((number) => number !== undefined);
  return set.length === 0 ? undefined : Math.min(...set);
}
