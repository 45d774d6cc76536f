/** Trees whose values are summed. */
export interface Forest {
  readonly bias: number;
  readonly trees: readonly TreeNode[];
}

/** A leaf, or a question with two answers. */
export type TreeNode = { readonly value: number } | Fork;

interface Fork {
  readonly column: number;
  /** Rows with at most this value go low. */
  readonly limit: number;
  readonly low: TreeNode;
  readonly high: TreeNode;
}

/** Leaves are kept in steps of this. */
const STEP = 1 / 8_192;
const LEAF = 0xffff;
const BYTES = 8;

/**
 * A forest as text for a file. Nodes stand in preorder: column, limit, and how far away the other branch is; or the
 * value of a leaf.
 */
export function packForest({ bias, trees }: Forest): string {
  const bytes: Buffer[] = [];
  for (const tree of trees) add(tree);
  const head = Buffer.alloc(BYTES);
  head.writeDoubleLE(bias);
  return Buffer.concat([head, ...bytes]).toString("base64");

  function add(node: TreeNode): void {
    const own = Buffer.alloc(BYTES);
    bytes.push(own);
    if ("value" in node) {
      own.writeUInt16LE(LEAF, 0);
      own.writeInt32LE(Math.round(node.value / STEP), 4);
      return;
    }
    own.writeUInt16LE(node.column, 0);
    own.writeFloatLE(node.limit, 4);
    const from = bytes.length;
    add(node.low);
    own.writeUInt16LE(bytes.length - from + 1, 2);
    add(node.high);
  }
}

/**
 * Reads a packed forest. The function it returns gives the share of the content in a row: the logistic function of the
 * sum.
 */
export function readForest(packed: string): (row: Float32Array) => number {
  const bytes = Buffer.from(packed, "base64");
  const count = bytes.length / BYTES - 1;
  const columns = new Uint16Array(count);
  const skips = new Uint16Array(count);
  const values = new Float32Array(count);
  const roots: number[] = [];
  let open = 0;
  for (let i = 0; i < count; i++) {
    const at = (i + 1) * BYTES;
    columns[i] = bytes.readUInt16LE(at);
    skips[i] = bytes.readUInt16LE(at + 2);
    const isLeaf = columns[i] === LEAF;
    values[i] = isLeaf ? bytes.readInt32LE(at + 4) * STEP : bytes.readFloatLE(at + 4);
    if (open === 0) roots.push(i);
    open += isLeaf ? (open === 0 ? 0 : -1) : open === 0 ? 2 : 1;
  }
  const bias = bytes.readDoubleLE(0);
  return (row) => {
    let sum = bias;
    for (const root of roots) {
      let node = root;
      for (let column = columns[node] as number; column !== LEAF; column = columns[node] as number) {
        node += (row[column] as number) <= (values[node] as number) ? 1 : (skips[node] as number);
      }
      sum += values[node] as number;
    }
    return 1 / (1 + Math.exp(-sum));
  };
}
