import type { Credential } from "../credentials/credential.ts";
import type { Paging } from "../response/next-page.ts";
import type { SelectPart } from "../response/select-part.ts";

/** Which operations of a document are meant. All lists have to fit; `*` stands for any characters in ids and paths. */
export interface OperationFilter {
  readonly tags?: readonly string[];
  readonly operations?: readonly string[];
  readonly paths?: readonly string[];
  readonly methods?: readonly string[];
}

/** What the file says of one operation. */
export interface OperationSettings {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly cacheSeconds?: number | undefined;
  readonly select?: SelectPart | undefined;
  readonly paging?: Paging | undefined;
}

/** An OpenAPI document whose operations become tools, as the file says. */
export interface DocumentImport {
  readonly name: string;
  /** An address, or a file. */
  readonly document: string;
  /** Where a file is looked for. */
  readonly folder: string;
  readonly prefix: string;
  readonly naming: "prefixed" | "own";
  readonly origins?: readonly string[];
  readonly server?: string;
  readonly serverVariables?: Readonly<Record<string, string | undefined>>;
  /** The credential for any security scheme. */
  readonly credential: Credential | undefined;
  /** The credentials by security scheme. */
  readonly credentials: ReadonlyMap<string, Credential>;
  readonly include?: OperationFilter;
  readonly exclude?: OperationFilter;
  /** The settings by operationId, or METHOD /path. */
  readonly operations: ReadonlyMap<string, OperationSettings>;
}
