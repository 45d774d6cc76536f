/**
 * One property's value, and where it comes from in words: `the variable BUS_URL`, `the file config.yaml`, `an option`.
 */
export interface Setting {
  readonly value: unknown;
  readonly source: string;
}

/** The values that one source sets, by property name, and the faults of that source. */
export interface Settings {
  readonly settings: ReadonlyMap<string, Setting>;
  readonly faults: readonly string[];
}
