import { registerSecret } from "@rockbot/base/redaction";

/** Who gets notices. */
export interface WebhookReceiver {
  readonly url: string;
  /** Has its port. */
  readonly host: string;
  readonly key: Uint8Array;
  /** True from a notice that was given up until one arrives: then each is tried once. */
  isFailing: boolean;
  sending: number;
}

const RECEIVER = /^(https?:\/\/[^\s#@]+) (whsec_([A-Za-z0-9+/]{32,86}={0,2}))$/;

/** What is wrong with a receiver, in words that do not have its key. */
export function webhookFault(text: string): string | undefined {
  const url = RECEIVER.exec(text)?.[1];
  if (url !== undefined && URL.canParse(url)) return undefined;
  return "expected the address and the key of a receiver, with a space between: https://HOST/PATH whsec_BASE64, with 24 to 64 bytes in the key";
}

/** Reads one that has no fault. */
export function readReceiver(text: string): WebhookReceiver {
  const [, url = "", secret = "", key = ""] = RECEIVER.exec(text) ?? [];
  registerSecret(secret);
  registerSecret(key);
  const { hostname, port, protocol } = new URL(url);
  const host = `${hostname}:${port || (protocol === "https:" ? 443 : 80)}`;
  return { url, host, key: Buffer.from(key, "base64"), isFailing: false, sending: 0 };
}
