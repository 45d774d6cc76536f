/**
 * A compiled schema. Reports every fault in `errors`, which holds until the next call; writes defaults into `value`.
 */
export interface Validator<T> {
  (value: unknown): value is T;
  errors?: SchemaError[] | null;
}

/** One entry of ajv's error list, as far as we read it. */
export interface SchemaError {
  readonly keyword: string;
  /** JSON pointer into the value. */
  readonly instancePath: string;
  /** JSON pointer into the schema, as `#/…`. */
  readonly schemaPath: string;
  readonly params: Record<string, unknown>;
  readonly message?: string;
  /** Set if not the value is at fault but this name in it. */
  readonly propertyName?: string;
}
