/** Estimates the memory of values, in bytes, to bound queues even when single runs are huge. */

/** Limits of the walk. A larger or deeper value is estimated too low; no value of the service is as large. */
const nodesMax = 1_000_000;
const depthMax = 1_000;
const NODE_BYTES = 16;

export function roughBytes(value: unknown): number {
  return weigh(value, { nodes: 0 }, 0);
}

/** Recursive without intermediate lists, as every run is estimated. */
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
