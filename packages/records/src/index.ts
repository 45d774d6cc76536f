export { makeDataDirectory } from "./make-data-directory.ts";
export { StoreUnavailableError } from "./store-unavailable-error.ts";
