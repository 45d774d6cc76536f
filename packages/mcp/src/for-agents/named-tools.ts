import type { ContentTrust, McpServerSummary } from "@rockbot/contracts";

/** Some tools of a server, by their own names. */
export type NamedTools = Pick<McpServerSummary, "serverName" | "toolNames">;

/** Whose words these names and what is said of the tools are, and whether they are approved. */
export type TrustOf = (named: NamedTools) => ContentTrust;
