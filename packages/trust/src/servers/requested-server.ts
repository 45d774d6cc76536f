import { createHash } from "node:crypto";
import { canonicalJson } from "@rockbot/contracts";

/** A server that an agent asks for while the bridge runs. */
export interface RequestedServer {
  readonly name: string;
  readonly address: RequestedAddress;
}

/** Where a server is that an agent asks for. */
export type RequestedAddress =
  /** The entry of the operator's catalogue that has the server's name. */
  | { readonly kind: "catalogue" }
  | { readonly kind: "url"; readonly url: string; readonly transport: "auto" | "http" | "sse" }
  /** A program, as it would be started; no text in it is expanded. */
  | {
      readonly kind: "command";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    };

/** SHA-256 over all that an operator is shown: what is approved is this and nothing else. */
export const digestOf = ({ name, address }: RequestedServer): string =>
  createHash("sha256").update(canonicalJson({ name, address })).digest("hex");

/** The lines that the operator sees, exactly, a line each. */
export function describeRequest({ address }: RequestedServer): string[] {
  switch (address.kind) {
    case "catalogue":
      return ["the entry of the catalogue"];
    case "url":
      return [`url: ${address.url}`, `transport: ${address.transport}`];
    case "command":
      return [
        `command: ${JSON.stringify(address.command)}`,
        `arguments: ${JSON.stringify(address.args)}`,
        `environment: ${Object.keys(address.env).length === 0 ? "nothing beside PATH, HOME and the like" : JSON.stringify(address.env)}`,
      ];
  }
}
