import type { Forest, TreeNode } from "@rockbot/page/content";

/** A forest that is less sure of what it says, or surer: the logit of each share is `scale` times what it was. */
export function temper({ bias, trees }: Forest, scale: number): Forest {
  return { bias: scale * bias, trees: trees.map(tempered) };

  function tempered(node: TreeNode): TreeNode {
    return "value" in node
      ? { value: scale * node.value }
      : { ...node, low: tempered(node.low), high: tempered(node.high) };
  }
}

/** Steps of Newton's method: it settles within ten. */
const STEPS = 30;

/**
 * The scale at which the shares agree best with the labels, by likelihood: temperature scaling.
 * @see Guo, Pleiss, Sun and Weinberger, "On calibration of modern neural networks", ICML 2017
 */
export function fitScale(shares: readonly number[], labels: readonly number[], weights: readonly number[]): number {
  let scale = 1;
  for (let step = 0; step < STEPS; step++) {
    let gradient = 0;
    let curvature = 0;
    shares.forEach((share, i) => {
      const logit = Math.log(Math.max(share, LEAST) / Math.max(1 - share, LEAST));
      const tempered = 1 / (1 + Math.exp(-scale * logit));
      const weight = weights[i] ?? 0;
      gradient += weight * (tempered - (labels[i] ?? 0)) * logit;
      curvature += weight * tempered * (1 - tempered) * logit ** 2;
    });
    scale -= gradient / curvature;
  }
  return scale;
}

const LEAST = 1e-6;
