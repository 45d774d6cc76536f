/** One property's value, and where it comes from in words: `the variable BUS_URL`, `the file config.yaml`, `an option`. */
export interface Setting {
  readonly value: unknown;
  readonly source: string;
}

/** What one source sets, by property name, and what is wrong with it. */
export interface Settings {
  readonly settings: ReadonlyMap<string, Setting>;
  readonly faults: readonly string[];
}
