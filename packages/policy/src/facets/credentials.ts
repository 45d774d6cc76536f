import { entries } from "../document/document-place.ts";
import { defineFacet } from "./facet.ts";

/** Stands for any credential; no name can be this. */
export const ANY = "*";

export const credentials = defineFacet({
  place: "entries",
  readBy: "services",
  schema: {
    type: "object",
    maxProperties: 100,
    propertyNames: { pattern: "^[A-Za-z0-9_-]{1,64}$" },
    additionalProperties: { type: "string", pattern: "^[A-Za-z0-9@._+-]{1,128}$" },
    description:
      "Which of a service's credentials a call uses: its kind, and the name by which the service knows it, such as google and an account. No secret stands here, and a kind that a caller does not name is everyone's. Once a kind stands anywhere, callers without one get none.",
  },
  docs: [
    {
      holds:
        "the name of the service's credential of each kind; no secret stands here. A kind that the caller does not name is everyone's. Once a kind stands anywhere, callers without one have none",
      beyond: "`denied`; of `github`, only what is public is read",
    },
  ],
  example: { google: "alice@example.com" },
  read({ document: { everyone }, callers }) {
    const kinds = new Set(
      [everyone, ...callers.values()].flatMap(({ credentials = {} }) => entries(credentials).map(([kind]) => kind)),
    );
    /** The caller's credentials by their kinds. */
    const credentialsOf = (caller: string): ReadonlyMap<string, string> =>
      new Map([...entries(everyone.credentials ?? {}), ...entries(callers.get(caller)?.credentials ?? {})]);
    return {
      credentialsOf,
      /**
       * The name by which a service knows the credential of this kind that this caller's calls use: its own, else
       * everyone's. It is no secret.
       * @returns `ANY` if the policy names none of this kind for anybody: the service's own choice; undefined if this
       * caller has none
       */
      credentialOf: (caller: string, kind: string): string | undefined =>
        kinds.has(kind) ? credentialsOf(caller).get(kind) : ANY,
    };
  },
  explain: ({ credentialsOf }, { caller }) =>
    [...credentialsOf(caller)].map(([kind, name]) => `uses the credential ${kind}: ${name}`),
});
