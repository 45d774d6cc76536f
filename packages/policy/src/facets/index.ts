import { afterUntrusted } from "./after-untrusted.ts";
import { approve } from "./approve.ts";
import { bytesPerDay } from "./bytes-per-day.ts";
import { callsPerSecond } from "./calls-per-second.ts";
import { costPerDay } from "./cost-per-day.ts";
import { credentials } from "./credentials.ts";
import { depth } from "./depth.ts";
import type { Asked, Facet, Said } from "./facet.ts";
import { fast } from "./fast.ts";
import { hosts } from "./hosts.ts";
import { inFlight } from "./in-flight.ts";
import { keep } from "./keep.ts";
import { messages } from "./messages.ts";
import { queues } from "./queues.ts";
import { roots } from "./roots.ts";
import { rules } from "./rules.ts";
import { scriptSecondsPerHour } from "./script-seconds-per-hour.ts";
import { scripts } from "./scripts.ts";
import { spaces } from "./spaces.ts";

/** Every facet by the name of its property, in the order in which people read of them. A new one is a file here. */
export const facets = {
  afterUntrusted,
  approve,
  rules,
  callsPerSecond,
  costPerDay,
  bytesPerDay,
  scriptSecondsPerHour,
  inFlight,
  depth,
  messages,
  credentials,
  roots,
  hosts,
  spaces,
  scripts,
  queues,
  keep,
  fast,
};

export type FacetName = keyof typeof facets;

/** The facets that a service reads only if its entry names them. */
export type ServiceFacet = {
  [Name in FacetName]: (typeof facets)[Name]["readBy"] extends "services" ? Name : never;
}[FacetName];

type All<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer Each) => void
  ? Each
  : never;

/** The functions of these facets together. */
export type Readers<Name extends FacetName> = All<ReturnType<(typeof facets)[Name]["read"]>>;

const each = Object.values<Facet>(facets);

export const readFacets = (said: Said): Readers<FacetName> =>
  Object.assign({}, ...each.map((facet) => facet.read(said)));

/** What each facet says of a use, in lines for people. */
export const explainFacets = (readers: Readers<FacetName>, asked: Asked, at: Said["at"]): string[] =>
  each.flatMap((facet) => facet.explain?.(readers, asked, at) ?? []);
