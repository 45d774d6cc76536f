import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { registerSecret } from "@rockbot/base/redaction";
import { parseJson } from "@rockbot/contracts";
import { makeDataDirectory, replaceFile, StoreUnavailableError, sweepTemporaries } from "@rockbot/records";
import { type Product, products } from "./products.ts";

/** What is kept of an account's consent. */
export interface AccountGrant {
  /** The mail address, in small letters. */
  readonly account: string;
  readonly scopes: readonly string[];
  readonly refreshToken: string;
  readonly access?: { readonly token: string /** Unix milliseconds. */; readonly expiresAt: number } | undefined;
}

/** A file holds one grant: as it is, or encrypted by AES-256-GCM with the place of the file as additional data. */
type TokenFile =
  | { readonly version: 1; readonly grant: AccountGrant }
  | { readonly version: 1; readonly iv: string; readonly tag: string; readonly data: string };

const ACCOUNT = /^[a-z0-9@._+-]{1,128}$/;
const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
/** The bits of a file's mode with the rights of its group, and of all. */
const OTHERS = 0o077;

/** The tokens of accounts, a file of mode 0600 each, in a folder for each product. */
export class TokenStore {
  readonly #directory: string;
  readonly #key: Buffer | undefined;

  /** @param key 32 bytes as hex or base64 @throws {StoreUnavailableError} if the folder cannot be made */
  constructor(directory: string, key: string | undefined) {
    this.#directory = makeDataDirectory(directory);
    this.#key = key === undefined ? undefined : Buffer.from(key, key.length === 64 ? "hex" : "base64");
    for (const product of Object.keys(products) as Product[]) void sweepTemporaries(this.#folder(product));
  }

  /** The accounts that have tokens, sorted. @throws {StoreUnavailableError} */
  async accounts(product: Product): Promise<string[]> {
    const names = await readdir(this.#folder(product)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw unreadable(this.#folder(product), error.code);
    });
    return names
      .flatMap((name) => (name.endsWith(".json") && ACCOUNT.test(name.slice(0, -5)) ? [name.slice(0, -5)] : []))
      .sort();
  }

  /** @returns undefined if the account has no tokens @throws {StoreUnavailableError} if its file cannot be read */
  async read(product: Product, account: string): Promise<AccountGrant | undefined> {
    const path = this.#path(product, account);
    const text = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw unreadable(path, error.code);
    });
    if (text === undefined) return undefined;
    const file = parseJson(text);
    const grant = file.ok ? this.#opened(file.value as TokenFile, path) : undefined;
    if (typeof grant?.refreshToken !== "string" || !Array.isArray(grant.scopes))
      throw unreadable(path, "it is not what this version writes");
    for (const secret of [grant.refreshToken, grant.access?.token]) if (secret !== undefined) registerSecret(secret);
    return grant;
  }

  /** Writes all of it or nothing. @throws {StoreUnavailableError} */
  async write(product: Product, grant: AccountGrant): Promise<void> {
    for (const secret of [grant.refreshToken, grant.access?.token]) if (secret !== undefined) registerSecret(secret);
    const path = this.#path(product, grant.account);
    try {
      await mkdir(this.#folder(product), { recursive: true, mode: 0o700 });
      await replaceFile(path, `${JSON.stringify(this.#closed(grant, path))}\n`);
    } catch (error) {
      throw new StoreUnavailableError(`Cannot keep tokens in ${path}: ${(error as NodeJS.ErrnoException).code}`, {
        cause: error,
      });
    }
  }

  /** Forgets an account's tokens, if there are any. @throws {StoreUnavailableError} */
  async remove(product: Product, account: string): Promise<void> {
    const path = this.#path(product, account);
    await rm(path, { force: true }).catch((error: NodeJS.ErrnoException) => {
      throw new StoreUnavailableError(`Cannot remove tokens in ${path}: ${error.code}`, { cause: error });
    });
  }

  /**
   * The file of an account's tokens if other users of this machine have rights to it, as far as its mode says.
   * @throws {StoreUnavailableError}
   */
  async exposedFile(product: Product, account: string): Promise<string | undefined> {
    const path = this.#path(product, account);
    const { mode } = await stat(path).catch((error: NodeJS.ErrnoException) => {
      throw unreadable(path, error.code);
    });
    return process.platform !== "win32" && (mode & OTHERS) !== 0 ? path : undefined;
  }

  #folder(product: Product): string {
    return join(this.#directory, products[product].folder);
  }

  #path(product: Product, account: string): string {
    if (!ACCOUNT.test(account))
      throw new RangeError(`Cannot keep tokens of an account of this name: expected up to 128 of a-z, 0-9 and @._+-`);
    return join(this.#folder(product), `${account}.json`);
  }

  #closed(grant: AccountGrant, path: string): TokenFile {
    if (this.#key === undefined) return { version: 1, grant };
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, iv).setAAD(placeOf(path));
    const data = Buffer.concat([cipher.update(JSON.stringify(grant)), cipher.final()]);
    return {
      version: 1,
      iv: iv.toString("base64"),
      tag: cipher.getAuthTag().toString("base64"),
      data: data.toString("base64"),
    };
  }

  #opened(file: TokenFile, path: string): AccountGrant | undefined {
    if ("grant" in file) return file.grant;
    if (this.#key === undefined)
      throw unreadable(path, "it is encrypted. Set GOOGLE_TOKEN_KEY to the key that it was written with");
    try {
      const decipher = createDecipheriv(CIPHER, this.#key, Buffer.from(file.iv, "base64"), { authTagLength: 16 });
      decipher.setAAD(placeOf(path)).setAuthTag(Buffer.from(file.tag, "base64"));
      const opened = parseJson(
        Buffer.concat([decipher.update(Buffer.from(file.data, "base64")), decipher.final()]).toString(),
      );
      return opened.ok ? (opened.value as AccountGrant) : undefined;
    } catch {
      throw unreadable(path, "GOOGLE_TOKEN_KEY is not the key that it was written with, or somebody has changed it");
    }
  }
}

/** Product and account, so that no file can stand for another. The folder may move. */
const placeOf = (path: string): Buffer => Buffer.from(path.split(/[\\/]/).slice(-2).join("/"));

const unreadable = (path: string, why: string | undefined): StoreUnavailableError =>
  new StoreUnavailableError(`Cannot read tokens in ${path}: ${why}`);
