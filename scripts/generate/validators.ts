import { resolve } from "node:path";
import { Ajv, type Options } from "ajv";
import standaloneCode from "ajv/dist/standalone/index.js";
import formatsPlugin from "ajv-formats";
import { build } from "esbuild";
import type { JsonSchema } from "./schema-document.ts";

/**
 * One self-contained ES module that exports a validator for each schema; nothing is compiled at run time. Validators
 * report every fault and write defaults into the value.
 * @param schemas validator name -> schema; references resolve inside `definitions`
 */
export async function validatorsModule(
  schemas: Record<string, JsonSchema>,
  definitions: Record<string, JsonSchema> = {},
): Promise<string> {
  const options: Options = {
    allErrors: true,
    useDefaults: true,
    strict: true,
    validateSchema: false, // schema-faults.ts has done so
    allowUnionTypes: true,
    code: { source: true, esm: true, lines: true },
  };
  const ajv = formatsPlugin.default(new Ajv(options));
  ajv.addVocabulary(["x-message", "x-readOnly", "x-idempotent", "x-secret", "x-unquoted"]);
  for (const [name, schema] of Object.entries(schemas)) ajv.addSchema({ ...schema, $id: name, definitions });
  const ids = Object.fromEntries(Object.keys(schemas).map((name) => [name, name]));
  const code = standaloneCode.default(ajv, ids);
  // ajv's output still requires its own run-time helpers: bundling takes in the few lines that are used.
  const bundle = await build({
    absWorkingDir: resolve(import.meta.dirname, "../.."), // names of modules in the output are relative to it
    stdin: { contents: code, resolveDir: import.meta.dirname, loader: "js" },
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    minifySyntax: true,
    minifyWhitespace: true,
    charset: "utf8",
  });
  const text = bundle.outputFiles[0]?.text;
  if (text === undefined) throw new Error("Cannot generate validators: the bundler gave no output");
  return text;
}
