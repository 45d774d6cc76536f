import { expect, test } from "vitest";
import { boundedSchemaValidator } from "./bounded-schema-validator.ts";

test("a number that is carried as text is the number that the schema wants, and other texts are none", () => {
  const validate = boundedSchemaValidator.getValidator({ type: "object", properties: { id: { type: "integer" } } });
  expect(validate({ id: "9007199254740993" })).toMatchObject({ valid: true, data: { id: "9007199254740993" } });
  for (const id of ["5", "nine", "9007199254740993x"]) expect(validate({ id })).toMatchObject({ valid: false });
});
