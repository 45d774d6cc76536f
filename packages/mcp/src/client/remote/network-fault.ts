/** The end of the sentence "HOST:PORT …" for each code of Node and of its fetch. */
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "refuses the connection: nothing listens there",
  ENOTFOUND: "is not found: no address is known for that name",
  EAI_AGAIN: "cannot be looked up now",
  EHOSTUNREACH: "cannot be reached: there is no route to it",
  ENETUNREACH: "cannot be reached: there is no route to it",
  ETIMEDOUT: "accepts no connection in time",
  UND_ERR_CONNECT_TIMEOUT: "accepts no connection in time",
  UND_ERR_HEADERS_TIMEOUT: "accepts the connection and does not answer in time",
  UND_ERR_BODY_TIMEOUT: "breaks off its answer",
  UND_ERR_SOCKET: "ends the connection without an answer",
  ECONNRESET: "ends the connection without an answer",
};
const CERTIFICATE = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_)/;

/**
 * Why nothing comes from an address, with its host and port and the system's code. For the operator: it is the cause of
 * errors that callers see, which name no address.
 */
export class NetworkFault extends Error {
  override readonly name = "NetworkFault";

  constructor(address: string | URL, code: string | undefined, cause: Error) {
    super(wordsFor(new URL(address), code, cause), { cause });
  }
}

function wordsFor({ hostname, port, protocol }: URL, code: string | undefined, { message, cause }: Error): string {
  const peer = `${hostname}:${port || (/^(?:https|wss):$/.test(protocol) ? 443 : 80)}`;
  if (code === undefined) return `no connection to ${peer}: ${cause instanceof Error ? cause.message : message}`;
  const words = CERTIFICATE.test(code) ? "has no valid certificate" : (WORDS[code] ?? "cannot be reached");
  return `${peer} ${words} (${code})`;
}
