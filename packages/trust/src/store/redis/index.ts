export { connectRedisTrustStore } from "./redis-trust-store.ts";
