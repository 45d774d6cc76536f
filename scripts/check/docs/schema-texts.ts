import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";

/** A description in a schema: of a setting, a tool, a message, or a field of them. */
export interface SchemaText {
  readonly file: string;
  /** Its place, such as `/properties/busUrl`. */
  readonly where: string;
  readonly text: string;
}

const SCHEMAS = ["packages/contracts/schema/*.yaml", "packages/policy/*.schema.yaml", "services/*.yaml"];

/** The descriptions in all schemas of the repository, each text of a file once. */
export async function schemaTexts(root: string): Promise<readonly SchemaText[]> {
  const files = execFileSync("git", ["ls-files", "-z", ...SCHEMAS], { cwd: root, encoding: "utf8" }).split("\0");
  const texts = await Promise.all(
    files.filter(Boolean).map(async (file) => {
      const schema: unknown = parse(await readFile(join(root, file), "utf8"), { merge: true });
      const found = new Map(descriptionsIn(schema, "").map((each) => [each.text, each.where]));
      return [...found].map(([text, where]) => ({ file, where, text }));
    }),
  );
  return texts.flat();
}

function descriptionsIn(value: unknown, where: string): Omit<SchemaText, "file">[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "description" && typeof inner === "string"
      ? [{ where, text: inner }]
      : descriptionsIn(inner, `${where}/${key}`),
  );
}
