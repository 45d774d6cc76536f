import { crc32, deflateRawSync } from "node:zlib";

/** What all readers know. */
const VERSION = 20;
const DEFLATED = 8;
const UTF8_NAMES = 0x0800;
const REGULAR_FILE = 0o100644 * 0x10000;
/** 1980-01-01, the first date that the format knows. */
const DATE = 0x21;

export interface ZipOptions {
  /** True to compress its files. @default false */
  readonly isDeflated?: boolean | undefined;
}

/**
 * A zip archive of files by their names, which are taken as they are: also such as an honest program would not write.
 */
export function zip(
  files: Readonly<Record<string, string | Uint8Array>>,
  { isDeflated = false }: ZipOptions = {},
): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(files)) {
    const [path, data] = [Buffer.from(name), Buffer.from(content)];
    const packed = isDeflated ? deflateRawSync(data) : data;
    const common = Buffer.alloc(26);
    common.writeUInt16LE(VERSION, 0);
    common.writeUInt16LE(UTF8_NAMES, 2);
    common.writeUInt16LE(isDeflated ? DEFLATED : 0, 4);
    common.writeUInt16LE(DATE, 8);
    common.writeUInt32LE(crc32(data), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(data.length, 18);
    common.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, path, packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(REGULAR_FILE, 6);
    place.writeUInt32LE(offset, 10);
    entries.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x03"), common, place, path]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...locals, directory, Buffer.from("PK\x05\x06"), end]);
}
