/** An import of one folder, or file beside the folders, by another, with the files that show it. */
export interface FolderImport {
  readonly from: string;
  readonly to: string;
  readonly shownBy: string;
}

/**
 * The imports that make folders a ring: each leads from a folder to one that leads back to it. dependency-cruiser has
 * rules for folders, too. They take each folder at each depth for itself, and miss a ring that closes in a subfolder.
 */
export function folderRings(imports: readonly FolderImport[]): readonly FolderImport[] {
  const next = Map.groupBy(imports, ({ from }) => from);
  const leadsTo = (from: string, to: string): boolean => {
    const seen = new Set([from]);
    for (const folder of seen) for (const { to: other } of next.get(folder) ?? []) seen.add(other);
    return seen.has(to);
  };
  return imports.filter(({ from, to }) => leadsTo(to, from));
}
