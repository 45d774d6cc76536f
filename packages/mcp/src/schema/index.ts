// What strangers say of the arguments of their tools, as far as it may be used. Loads no SDK.

export { cleanSchema, isTooDeep } from "../text/clean-schema.ts";
export { cleanText } from "../text/clean-text.ts";
export { validatorOf } from "./bounded-schema-validator.ts";
