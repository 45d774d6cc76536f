export { type OfferMcpToolsOptions, offerMcpTools } from "./offer-mcp-tools.ts";
