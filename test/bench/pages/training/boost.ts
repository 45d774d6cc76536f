import type { Forest, TreeNode } from "@rockbot/page/content";

export interface BoostOptions {
  readonly trees: number;
  readonly leaves: number;
  readonly rate: number;
  /** The share of rows, and of columns, that each tree sees. */
  readonly rowShare: number;
  readonly columnShare: number;
  readonly leastRows: number;
  readonly ridge: number;
  readonly seed: number;
}

export interface Samples {
  /** The values of all columns, for each row. */
  readonly rows: readonly Float32Array[];
  /** The part of the row that belongs to the content, in [0, 1]. */
  readonly labels: Float64Array;
  readonly weights: Float64Array;
}

const BINS = 64;

/**
 * Learns a forest whose sum, through the logistic function, is the label: gradient boosting on histograms, with trees
 * grown leaf by leaf. The same samples and options give the same forest.
 * @see Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 29, 2001
 */
export function boost({ rows, labels, weights }: Samples, options: BoostOptions): Forest {
  const width = rows[0]?.length ?? 0;
  const edges = Array.from({ length: width }, (_, column) => edgesOf(rows, column));
  const bins = edges.map((of, column) => Uint8Array.from(rows, (row) => binOf(of, row[column] ?? 0)));
  const random = randomOf(options.seed);
  const sums = new Float64Array(rows.length);
  const gradients = new Float64Array(rows.length);
  const curvatures = new Float64Array(rows.length);
  const trees: TreeNode[] = [];
  const bias = logit(weightedMean(labels, weights));
  sums.fill(bias);
  for (let i = 0; i < options.trees; i++) {
    for (let row = 0; row < rows.length; row++) {
      const p = 1 / (1 + Math.exp(-(sums[row] as number)));
      gradients[row] = (weights[row] as number) * (p - (labels[row] as number));
      curvatures[row] = (weights[row] as number) * p * (1 - p);
    }
    const sampled = Int32Array.from({ length: rows.length }, (_, row) => row).filter(
      (row) => (weights[row] as number) > 0 && random() < options.rowShare,
    );
    const columns = edges.map((_, column) => column).filter(() => random() < options.columnShare);
    const tree = growTree({ bins, edges, gradients, curvatures, columns }, sampled, options);
    trees.push(tree);
    for (let row = 0; row < rows.length; row++)
      sums[row] = (sums[row] as number) + valueIn(tree, rows[row] as Float32Array);
  }
  return { bias, trees };
}

const logit = (p: number): number => Math.log(p / (1 - p));

function weightedMean(values: Float64Array, weights: Float64Array): number {
  let sum = 0;
  let total = 0;
  values.forEach((value, i) => {
    sum += value * (weights[i] as number);
    total += weights[i] as number;
  });
  return sum / total;
}

function valueIn(tree: TreeNode, row: Float32Array): number {
  let node = tree;
  while ("column" in node) node = (row[node.column] as number) <= node.limit ? node.low : node.high;
  return node.value;
}

/** A generator of numbers in [0, 1) that gives the same for the same seed: mulberry32. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Limits between values, so that about as many rows lie in each bin. */
function edgesOf(rows: readonly Float32Array[], column: number): Float32Array {
  const step = Math.max(1, Math.floor(rows.length / 20_000));
  const values: number[] = [];
  for (let i = 0; i < rows.length; i += step) values.push(rows[i]?.[column] ?? 0);
  const sorted = Float32Array.from(values).sort();
  const edges: number[] = [];
  for (let i = 1; i < BINS; i++) {
    const edge = sorted[Math.floor((i * sorted.length) / BINS)] as number;
    if (edge < (sorted.at(-1) as number) && (edges.length === 0 || edge > (edges.at(-1) as number))) edges.push(edge);
  }
  // A rare value, such as that of a mark, has a bin all the same.
  if (edges.length === 0 && (sorted[0] as number) < (sorted.at(-1) as number)) edges.push(sorted[0] as number);
  return Float32Array.from(edges);
}

/** The first bin whose edge is not below the value. */
function binOf(edges: Float32Array, value: number): number {
  let low = 0;
  let high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value <= (edges[middle] as number)) high = middle;
    else low = middle + 1;
  }
  return low;
}

interface Field {
  readonly bins: readonly Uint8Array[];
  readonly edges: readonly Float32Array[];
  readonly gradients: Float64Array;
  readonly curvatures: Float64Array;
  readonly columns: readonly number[];
}

interface Leaf {
  readonly rows: Int32Array;
  /** Gradients, curvatures and rows of each sampled column and bin. */
  readonly sums: Float64Array;
  readonly split: Split | undefined;
  place: (node: TreeNode) => void;
}

interface Split {
  readonly gain: number;
  readonly column: number;
  readonly bin: number;
}

function growTree(field: Field, rows: Int32Array, options: BoostOptions): TreeNode {
  let root: TreeNode = { value: 0 };
  const leaves: Leaf[] = [];
  const add = (of: Int32Array, sums: Float64Array, place: (node: TreeNode) => void): void => {
    leaves.push({ rows: of, sums, split: bestSplit(field, sums, options), place });
  };
  add(rows, histogramOf(field, rows), (node) => {
    root = node;
  });
  while (leaves.length < options.leaves) {
    const leaf = leaves.reduce<Leaf | undefined>(
      (best, at) => (at.split !== undefined && at.split.gain > (best?.split?.gain ?? 0) ? at : best),
      undefined,
    );
    if (leaf?.split === undefined) break;
    const { column, bin } = leaf.split;
    const of = field.bins[column] as Uint8Array;
    const low = leaf.rows.filter((row) => (of[row] as number) <= bin);
    const high = leaf.rows.filter((row) => (of[row] as number) > bin);
    const isLowLess = low.length < high.length;
    const less = histogramOf(field, isLowLess ? low : high);
    const more = leaf.sums.map((sum, i) => sum - (less[i] as number));
    const node = {
      column,
      limit: field.edges[column]?.[bin] as number,
      low: { value: 0 } as TreeNode,
      high: { value: 0 } as TreeNode,
    };
    leaf.place(node);
    leaves.splice(leaves.indexOf(leaf), 1);
    add(low, isLowLess ? less : more, (child) => {
      node.low = child;
    });
    add(high, isLowLess ? more : less, (child) => {
      node.high = child;
    });
  }
  for (const { sums, place } of leaves) {
    const { gradient, curvature } = totalOf(sums);
    place({ value: (-options.rate * gradient) / (curvature + options.ridge) });
  }
  return root;
}

function histogramOf({ bins, gradients, curvatures, columns }: Field, rows: Int32Array): Float64Array {
  const sums = new Float64Array(columns.length * BINS * 3);
  columns.forEach((column, i) => {
    const of = bins[column] as Uint8Array;
    const offset = i * BINS * 3;
    for (const row of rows) {
      const at = offset + (of[row] as number) * 3;
      sums[at] = (sums[at] as number) + (gradients[row] as number);
      sums[at + 1] = (sums[at + 1] as number) + (curvatures[row] as number);
      sums[at + 2] = (sums[at + 2] as number) + 1;
    }
  });
  return sums;
}

function totalOf(sums: Float64Array): { gradient: number; curvature: number; count: number } {
  const total = { gradient: 0, curvature: 0, count: 0 };
  for (let at = 0; at < BINS * 3; at += 3) {
    total.gradient += sums[at] as number;
    total.curvature += sums[at + 1] as number;
    total.count += sums[at + 2] as number;
  }
  return total;
}

function bestSplit({ columns }: Field, sums: Float64Array, { leastRows, ridge }: BoostOptions): Split | undefined {
  const { gradient, curvature, count } = totalOf(sums);
  const whole = (gradient * gradient) / (curvature + ridge);
  let best: Split | undefined;
  columns.forEach((column, i) => {
    let [g, h, n] = [0, 0, 0];
    for (let bin = 0; bin < BINS - 1; bin++) {
      const at = (i * BINS + bin) * 3;
      g += sums[at] as number;
      h += sums[at + 1] as number;
      n += sums[at + 2] as number;
      if (n < leastRows || count - n < leastRows) continue;
      const gain = (g * g) / (h + ridge) + (gradient - g) ** 2 / (curvature - h + ridge) - whole;
      if (gain > (best?.gain ?? 1e-6)) best = { gain, column, bin };
    }
  });
  return best;
}
