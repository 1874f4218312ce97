/** Roughly how much memory a value holds: enough to keep a queue of runs within bounds when single runs are huge. */

/** A value of more nodes is as heavy as its first ones say, and what lies deeper weighs nothing; nothing of ours has as many, or lies as deep. */
const nodesMax = 1_000_000;
const depthMax = 1_000;
const NODE_BYTES = 16;

export function roughBytes(value: unknown): number {
  return weigh(value, { nodes: 0 }, 0);
}

/** Every run is weighed, node by node: lists of what is in them would be garbage of several times their number. */
function weigh(value: unknown, seen: { nodes: number }, depth: number): number {
  if (++seen.nodes > nodesMax) return 0;
  if (typeof value === 'string') return NODE_BYTES + value.length;
  if (typeof value !== 'object' || value === null || depth === depthMax) return NODE_BYTES;
  if (ArrayBuffer.isView(value)) return NODE_BYTES + value.byteLength;
  let bytes = NODE_BYTES;
  if (Array.isArray(value)) for (const inner of value) bytes += weigh(inner, seen, depth + 1);
  else
    for (const key in value)
      if (Object.hasOwn(value, key)) bytes += weigh((value as { readonly [key: string]: unknown })[key], seen, depth + 1);
  return bytes;
}
