export { makeDataDirectory } from "./make-data-directory.ts";
export { replaceFile, sweepTemporaries } from "./replace-file.ts";
export { StoreFullError, StoreUnavailableError } from "./store-unavailable-error.ts";
