export { StoreUnavailableError } from "./store-unavailable-error.ts";
