import { createHash } from "node:crypto";

/**
 * The namespace of a session in its caller's memory: `session/{id}`. Other characters of an id than a URL's segment may
 * have are escaped as there. So no session's keys begin as those of another. An id that is then longer than 128
 * characters is cut, and ends in a hash.
 */
export const sessionNamespace = (sessionId: string): string => `session/${nameOf(sessionId)}`;

/**
 * The namespace of a whiteboard and of helpers, which a session shares with all sessions that stem from it. No
 * session's own begins so.
 */
export const familyNamespace = (rootSessionId: string): string => `family/${nameOf(rootSessionId)}`;

/** The namespace of what the sessions of a family did, as its operator sees it. No session's own begins so. */
export const runsNamespace = (rootSessionId: string): string => `runs/${nameOf(rootSessionId)}`;

function nameOf(sessionId: string): string {
  const name = encodeURIComponent(sessionId.toWellFormed());
  return name.length <= 128
    ? name
    : `${name.slice(0, 111)}-${createHash("sha256").update(sessionId).digest("hex").slice(0, 16)}`;
}
