/** So many bytes say whether a file is a PNG image, and how large it is drawn. */
export const PNG_HEAD_BYTES = 24;

/** Signature, then the length and the name of the first part. @see https://www.w3.org/TR/png-3/#5PNG-file-signature */
const BEGIN = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]);

/** The size of a PNG image in pixels, by its first bytes; undefined for all else, whatever its name says. */
export function pngSize(head: Buffer): { readonly width: number; readonly height: number } | undefined {
  if (head.length < PNG_HEAD_BYTES || !head.subarray(0, BEGIN.length).equals(BEGIN)) return undefined;
  const [width, height] = [head.readUInt32BE(16), head.readUInt32BE(20)];
  return width > 0 && height > 0 ? { width, height } : undefined;
}
