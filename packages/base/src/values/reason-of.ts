/**
 * The fault in words. Node gives no message where it tried several addresses of a host, and OpenSSL's of a port without
 * TLS says nothing to a person.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(reasonOf).join(", ");
  if ((error as NodeJS.ErrnoException | undefined)?.code === "ERR_SSL_WRONG_VERSION_NUMBER")
    return "the other side speaks no TLS on this port";
  return error instanceof Error ? error.message || error.name : String(error);
}
