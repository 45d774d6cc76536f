import { Ajv, type Options } from "ajv";
import formats from "ajv-formats";
import { RE2JS } from "re2js";

/** How strictly schemas are read. */
export interface CompilerOptions {
  /**
   * Passes over what it does not know: keywords, formats, dialects, and patterns that take more than linear time.
   * @default false: they are faults
   */
  readonly isLenient?: boolean;
}

/** A compiler of JSON Schemas. Their patterns are matched in linear time. */
export function createAjv({ isLenient }: CompilerOptions): Ajv {
  const compiled = (pattern: string): Pick<RegExp, "test"> => {
    try {
      const regExp = RE2JS.compile(pattern);
      return { test: (text) => regExp.matcher(text).find() };
    } catch (error) {
      if (!isLenient) throw error;
      return { test: () => true };
    }
  };
  const linear = (pattern: string) => ({ ...compiled(pattern), toString: () => pattern }); // by which Ajv tells patterns apart
  // No defaults: a rule that is only to narrow must not write into arguments.
  const options: Options = {
    allErrors: true,
    strict: !isLenient,
    logger: false,
    strictRequired: false,
    strictTypes: false,
    allowUnionTypes: true,
    code: { regExp: Object.assign(linear, { code: "linear" }) },
  };
  return formats.default(new Ajv(options));
}
