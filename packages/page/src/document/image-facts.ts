import { imageSize } from "image-size";

/** An image, as far as it is looked at. */
export interface ImageFacts {
  /** Such as png. */
  readonly type: string;
  readonly width: number;
  readonly height: number;
}

/** The type and size of an image by its first bytes. @throws {Error} if it is none that is known */
export function imageFacts(bytes: Uint8Array): ImageFacts {
  const { type = "unknown", width, height } = imageSize(bytes);
  return { type, width, height };
}
