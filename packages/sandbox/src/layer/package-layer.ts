/** Packages that were installed together, read-only for scripts. */
export interface PackageLayer {
  /** The hash of the resolved set: the name of its folder below `PACKAGES_FOLDER` in every sandbox. */
  readonly key: string;
  /** What is in it, such as `numpy==2.3.5`. */
  readonly pinned: readonly string[];
}

/**
 * Where all layers lie in a sandbox. A layer that comes later is seen there too: a sandbox that is warm need not know
 * which one its script wants. A sandbox that sees no folder of the manager's has only the one there that it is sent.
 */
export const PACKAGES_FOLDER = "/packages";
