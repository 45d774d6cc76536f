/** A layer of a tree's sheets, with those in it. The outermost stands for what is in none. */
export interface Layer {
  readonly inner: Map<string, Layer>;
  /** The higher, the more it counts: known once all sheets are read. */
  rank: number;
}

export const newLayer = (): Layer => ({ inner: new Map(), rank: 0 });

/** The layer that a name such as `a.b` means in another; without a name, one of its own. */
export function layerIn(outer: Layer, name: string | undefined): Layer {
  let layer = outer;
  for (const part of name?.split(".") ?? [`(${outer.inner.size})`]) {
    const known = layer.inner.get(part) ?? newLayer();
    layer.inner.set(part, known);
    layer = known;
  }
  return layer;
}

/**
 * Ranks layers by where they are named first; what stands in a layer itself counts more than the layers in it. Returns
 * the highest rank.
 */
export function rankLayers(layer: Layer, from = 0): number {
  let rank = from;
  for (const inner of layer.inner.values()) rank = rankLayers(inner, rank) + 1;
  layer.rank = rank;
  return rank;
}
