const SECRET_NAME = /key|token|secret|pass|auth|credential|cookie|session|private|dsn|conn/i;
const PLAIN_NAME = /^(?:accept(?:-[a-z]+)?|content-type|user-agent|mcp-protocol-version)$/i;
/** A word, a number, a path, an address with a port, or a URL without user and query. */
const PLAIN_VALUE = /^(?:[a-z]+|[\d.,]+|[~.]{0,2}\/.*|[a-z]:[\\/].*|[\w.-]+:\d{1,5}|[a-z][a-z\d+.-]*:\/\/[^@?]*)$/is;

/**
 * Tells whether a server's configured value must stay out of all output of this process, results of tools included. Its
 * name says so, or nothing says that it is no secret. A folder or a mode that were taken for secrets would be missing
 * in results.
 */
export function isLikelySecret(name: string, value: string): boolean {
  if (PLAIN_NAME.test(name)) return false;
  return SECRET_NAME.test(name) || !PLAIN_VALUE.test(value);
}
