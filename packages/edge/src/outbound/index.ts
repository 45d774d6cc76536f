// Connections to places that strangers choose: to public addresses only, but for what the operator allows.
export { type AddressPolicyOptions, createAddressPolicy, hostAndPort } from "./address-policy.ts";
export { askTokenEndpoint, type TokenEndpointAnswer } from "./ask-token-endpoint.ts";
export { createMemoryPageStore, type PageStore } from "./cache/page-store.ts";
export { describeUrl } from "./fetch-errors.ts";
export { BlockedAddressError, ConnectTimeoutError, createGuardedAgent } from "./guarded-agent.ts";
export { guardedFetch } from "./guarded-fetch.ts";
export { errorBody, jsonBody } from "./json-body.ts";
export type { Lookup } from "./name-lookup.ts";
export { type PostAnswer, postText } from "./post-text.ts";
export { postWebhook, signedHeaders, type Webhook } from "./post-webhook.ts";
export { type ForwardProxy, startForwardProxy } from "./proxy/forward-proxy.ts";
export {
  createPublicFetch,
  type FetchOptions,
  type PublicFetch,
  type PublicFetchOptions,
  type PublicResponse,
} from "./public-fetch.ts";
export { fetchedRobots } from "./robots/fetch-robots.ts";
export { createRobotsRules } from "./robots/robots-rules.ts";
export { statusError } from "./status-error.ts";
