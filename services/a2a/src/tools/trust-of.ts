import type { ContentTrust } from "@rockbot/contracts";

/** What an agent says is a stranger's. */
export const trustOf = (origin: string): ContentTrust => ({ level: "untrusted", origin });
