// For agents.

export { mayHearBridge } from "./may-hear-bridge.ts";
export { type OfferedMcpTools, type OfferMcpToolsOptions, offerMcpTools } from "./offer-mcp-tools.ts";

// For operators.

export { type ReadIndexOptions, readIndex } from "./read-index.ts";
