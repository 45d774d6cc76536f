import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { ConfigError } from "@rockbot/contracts";

/**
 * The key that signs commands: a private Ed25519 key as PEM, or as base64 of PKCS #8.
 * @param setting its name, for faults
 * @throws {ConfigError} that holds nothing of the text
 */
export const readCommandKey = (text: string, setting: string): KeyObject =>
  read(setting, "private", () =>
    isPem(text) ? createPrivateKey(text) : createPrivateKey({ key: decoded(text), format: "der", type: "pkcs8" }),
  );

/** The key by which services know commands: the public half as PEM, or as base64 of SPKI. @throws {ConfigError} */
export const readCommandCheck = (text: string, setting: string): KeyObject =>
  read(setting, "public", () => {
    if (/PRIVATE KEY/.test(text)) throw new TypeError("a private key does not belong here"); // Node would take its public half
    return isPem(text) ? createPublicKey(text) : createPublicKey({ key: decoded(text), format: "der", type: "spki" });
  });

function read(setting: string, half: string, make: () => KeyObject): KeyObject {
  let key: KeyObject | undefined;
  try {
    key = make();
  } catch {
    // what is wrong with it may quote it
  }
  if (key?.asymmetricKeyType === "ed25519") return key;
  throw new ConfigError([
    `${setting}: expected the ${half} half of an Ed25519 key, as PEM or as base64. "openssl genpkey -algorithm ed25519" makes a private one, and "openssl pkey -pubout" gives the public half`,
  ]);
}

const isPem = (text: string): boolean => text.includes("-----BEGIN");
const decoded = (text: string): Buffer => Buffer.from(text, "base64");
