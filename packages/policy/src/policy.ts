import { createHash } from "node:crypto";
import { RecentMap } from "@rockbot/base";
import { canonicalJson, dangerousToolNames, tools } from "@rockbot/contracts";
import type { Decision, Use } from "./decision.ts";
import { delegatesOf } from "./delegates.ts";
import { entries, type PolicyPath } from "./document/document-place.ts";
import type { PolicySource } from "./document/read-policy.ts";
import { explainFacets, type FacetName, type Readers, readFacets, type ServiceFacet } from "./facets/index.ts";
import type { MessageLimits } from "./facets/messages.ts";
import type { PolicyCaller, PolicyDocument } from "./generated/policy.ts";
import { findGlob } from "./tool-glob.ts";

/**
 * One revision of a policy. Functions of facets read what decisions do not carry: `Policy<Readers<"roots">>` has those of
 * that facet.
 */
export type Policy<Read = unknown> = Readers<"fast" | "inFlight" | "keep" | "messages" | "scripts"> &
  Read & {
    readonly revision: string;
    /** The file's content with all defaults. */
    readonly document: PolicyDocument;
    /** The policy's decision on this use. Costs next to nothing for one that was asked for before. */
    decide(use: Use): Decision;
    /** The same for people, with all that was looked at and the lines where it stands. */
    explain(use: Use): string[];
  };

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
export function createPolicy(source: PolicySource): Policy<Readers<ServiceFacet>> {
  const { document, revision } = source;
  const judge = new Judge(source);
  const remembered = Array.from({ length: KINDS_OF_USE }, () => new Map<string, Map<string, Decision>>());
  let count = 0;
  const flows = new RecentMap<string, MessageLimits>(MAX_REMEMBERED);

  return {
    ...judge.facets,
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
    messagesOf(caller) {
      const known = flows.get(caller);
      if (known !== undefined) return known;
      const limits = judge.facets.messagesOf(caller);
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
  readonly facets: Readers<FacetName>;

  constructor(source: PolicySource) {
    this.#source = source;
    this.#callers = new Map(entries(source.document.callers));
    this.facets = readFacets({ ...source, callers: this.#callers, at: this.#at, hashOf });
  }

  judge(use: Use): Decision {
    const { caller, tool } = use;
    const { rates, ...ruled } = this.facets.ruledFor(use);
    const approvals = this.facets.approvalsFor(use);
    return {
      ...this.#narrowed(use, this.#verdict(use)),
      ...ruled,
      revision: this.#source.revision,
      rates: [...rates, ...this.facets.callRatesOf(caller)],
      bytes: this.facets.bytesOf(caller),
      scriptSeconds: this.facets.scriptSecondsOf(caller),
      inFlight: this.facets.inFlightOf(caller),
      depth: this.facets.depthOf(caller),
      queue: this.facets.queueOf(tool),
      approvals,
      boundTo: approvals.length === 0 ? undefined : this.#boundTo(caller),
    };
  }

  #boundTo(caller: string): string {
    const { credentialsOf, rootsOf, hostsOf, spacesOf } = this.facets;
    return hashOf({
      credentials: Object.fromEntries(credentialsOf(caller)),
      roots: rootsOf(caller),
      hosts: hostsOf(caller),
      spaces: spacesOf(caller),
    });
  }

  explain(use: Use): string[] {
    const { isAllowed, because } = this.#verdict(use);
    return [
      `"${use.caller}" ${isAllowed ? "may" : "may not"} use "${use.tool}": ${because}`,
      `revision ${this.#source.revision}${this.#callers.has(use.caller) ? "" : `; "${use.caller}" is not named, so what stands under everyone holds`}`,
      ...explainFacets(this.facets, { ...use, isAllowed, mayHaveEffects: mayHaveEffects(use) }, this.#at),
    ];
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
    const { isAllowed, because } = this.facets.effectsAfterUntrusted(use);
    if (isAllowed) return verdict;
    return { isAllowed, because: `untrusted content was read before, and ${because}`, isDeniedAfterUntrusted: true };
  }

  readonly #at = (path: PolicyPath): string => {
    const line = this.#source.lineOf(path);
    return line === undefined ? path.join(".") : `${path.join(".")}, line ${line}`;
  };
}

const hashOf = (value: object): string =>
  createHash("sha256").update(canonicalJson(value)).digest("base64url").slice(0, 22);
