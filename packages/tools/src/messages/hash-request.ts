import { hash } from "node:crypto";
import type { ToolInvokeRequest } from "@rockbot/contracts";

/** The same for requests of the same tool with the same arguments. */
export const hashRequest = ({ toolName, arguments: args }: Pick<ToolInvokeRequest, "toolName" | "arguments">): string =>
  hash("sha256", `${toolName}\0${args ?? ""}`, "base64url").slice(0, 22);
