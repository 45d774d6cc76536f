import type { ContentTrust } from "@rockbot/contracts";
import type { CredentialUse } from "./credentials/credential.ts";
import type { PreparedRequest } from "./request/prepared-request.ts";
import type { Paging } from "./response/next-page.ts";
import type { SelectPart } from "./response/select-part.ts";

/** One HTTP operation that is a tool: an endpoint of the file, or an operation of an OpenAPI document. */
export interface RestOperation {
  readonly toolName: string;
  readonly description: string;
  readonly inputSchema: object;
  /** Whose words these are. @default those of the operator's file */
  readonly trust?: ContentTrust | undefined;
  readonly method: string;
  readonly isReadOnly: boolean;
  readonly cacheSeconds?: number | undefined;
  /** The header with the same key at each attempt of one call. */
  readonly idempotencyKey?: string | undefined;
  readonly select?: SelectPart | undefined;
  readonly paging?: Paging | undefined;
  readonly credentials: readonly CredentialUse[];
  /** The request that these arguments make. @throws {ToolError} `invalid_arguments` if a value would leave its place */
  prepare(args: Readonly<Record<string, unknown>>): PreparedRequest;
}
