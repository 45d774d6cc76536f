import { createHash } from "node:crypto";
import type { RateLimit, Use } from "../decision.ts";
import type { ArgumentRules } from "../document/argument-rules.ts";
import type { PolicyPath } from "../document/document-place.ts";
import type { PolicyCaller, PolicyDocument, PolicyEveryone, PolicyLimits } from "../generated/policy.ts";

/** What a policy file says, as facets read it. */
export interface Said {
  readonly document: PolicyDocument;
  /** The entries of `callers` by their names. */
  readonly callers: ReadonlyMap<string, PolicyCaller>;
  readonly argumentRules: ArgumentRules;
  /** A place in the file in words, with its line. */
  at(path: PolicyPath): string;
  /** A hash of JSON, the same for equal values. Facets get it here, as they import no generated code. */
  hashOf(value: object): string;
}

/** The use that an explanation is for. */
export interface Asked extends Use {
  readonly isAllowed: boolean;
  readonly mayHaveEffects: boolean;
}

/**
 * One thing that a policy says besides who may use which tool: its form, its readers and its words. The file's schema is
 * made of the forms, a `Policy` of the readers, the reference and `explain` of the words. A facet's module imports no
 * generated code but types, as the generator reads it.
 */
export interface Facet<
  By extends "decisions" | "services" = "decisions" | "services",
  Readers extends object = object,
> {
  /** Where its property stands: in each entry of `callers` and in `everyone`, in their `limits`, or in the file itself. */
  readonly place: "entries" | "limits" | "file";
  /** Decisions on calls carry it to every service, or services read it whose entries in services/index.ts name it. */
  readonly readBy: By;
  /** The JSON Schema of its property. Other schemas refer to it as `#/definitions/Policy{Name}`. */
  readonly schema: object;
  /** What the schema refers to. */
  readonly definitions?: Readonly<Record<string, object>>;
  /** Rows of the reference, in Markdown. */
  readonly docs: readonly {
    /** A property of it, where each has a row. */
    readonly property?: string;
    readonly holds: string;
    /** What a call beyond it gets. */
    readonly beyond: string;
  }[];
  /** A value of it for the reference. */
  readonly example: unknown;
  /** Functions of a `Policy`, of names that no other facet has. */
  read(said: Said): Readers;
  /** What it says of a use, for people. */
  explain?(readers: Readers, asked: Asked, at: Said["at"]): readonly string[];
}

export const defineFacet = <const By extends "decisions" | "services", Readers extends object>(
  facet: Facet<By, Readers>,
): Facet<By, Readers> => facet;

type KeysOf<T, Value> = { [Key in keyof T]-?: T[Key] extends Value | undefined ? Key : never }[keyof T];

/** A caller's own list, else everyone's; without those none if anybody has one, else undefined. */
export function listOf(
  { document: { everyone }, callers }: Said,
  list: KeysOf<PolicyEveryone, readonly string[]>,
): (caller: string) => readonly string[] | undefined {
  const isSaid = [everyone, ...callers.values()].some((entry) => entry[list] !== undefined);
  return (caller) => callers.get(caller)?.[list] ?? everyone[list] ?? (isSaid ? [] : undefined);
}

/** A caller's own limit, else everyone's. */
export const limitOf = <Limit extends keyof PolicyLimits>(
  { document: { everyone }, callers }: Said,
  limit: Limit,
  caller: string,
): PolicyLimits[Limit] => callers.get(caller)?.limits[limit] ?? everyone.limits[limit];

/**
 * What a caller may use up of a limit in a time, over all tools.
 * @param key the name by which it is counted
 */
export const amountOf =
  (said: Said, limit: KeysOf<PolicyLimits, number>, key: string, perMs: number) =>
  (caller: string): RateLimit | undefined => {
    const amount = limitOf(said, limit, caller);
    return amount === undefined ? undefined : { key: keyOf([key, caller]), scope: "caller", amount, perMs };
  };

/** A rate of a caller's calls: of one tool, or of all. */
export function rateOf(caller: string, tool: string | undefined, amount: number, perMs: number): RateLimit {
  const scope = tool === undefined ? "caller" : "tool";
  return { key: keyOf([scope, caller, tool ?? "", String(amount), String(perMs)]), scope, amount, perMs };
}

/** A key as short for any names, and the same for no others. */
const keyOf = (parts: readonly string[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("base64url").slice(0, 22);

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
