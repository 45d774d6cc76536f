import { Ajv, type Options } from "ajv";
import formats from "ajv-formats";
import { RE2JS } from "re2js";

/** A compiler of argument rules. Their patterns are matched in linear time. */
export function createAjv(): Ajv {
  const linear = (pattern: string) => {
    const compiled = RE2JS.compile(pattern);
    return { test: (text: string) => compiled.matcher(text).find() };
  };
  // No defaults: a rule that is only to narrow must not write into arguments.
  const options: Options = {
    allErrors: true,
    strict: true,
    strictRequired: false,
    strictTypes: false,
    allowUnionTypes: true,
    code: { regExp: Object.assign(linear, { code: "linear" }) },
  };
  return formats.default(new Ajv(options));
}
