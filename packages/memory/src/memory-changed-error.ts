/** A text was not kept, as somebody else has written, deleted or outlived the entry since its version was read. */
export class MemoryChangedError extends Error {
  override readonly name = "MemoryChangedError";
  /** The version that is there; undefined if there is no entry. */
  readonly version: string | undefined;

  constructor(key: string, version: string | undefined) {
    super(
      version === undefined
        ? `Did not keep "${key}": there is no entry of that key any more`
        : `Did not keep "${key}": it has version ${version} now`,
    );
    this.version = version;
  }
}
