// For agents.

export { type OfferMcpToolsOptions, offerMcpTools } from "./offer-mcp-tools.ts";

// For operators.

export { type ReadIndexOptions, readIndex } from "./read-index.ts";
