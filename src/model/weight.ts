/** Roughly how much memory a value holds: enough to keep a queue of runs within bounds when single runs are huge. */

/** A value of more nodes is as heavy as its first ones say; nothing of ours has as many. */
const nodesMax = 1_000_000;
const NODE_BYTES = 16;

export function roughBytes(value: unknown): number {
  const left: unknown[] = [value];
  let bytes = 0;
  for (let nodes = 0; nodes < nodesMax; nodes++) {
    const one = left.pop();
    if (one === undefined && left.length === 0) return bytes;
    bytes += NODE_BYTES;
    if (typeof one === 'string') bytes += one.length;
    else if (ArrayBuffer.isView(one)) bytes += one.byteLength;
    else if (typeof one === 'object' && one !== null) for (const inner of Object.values(one)) left.push(inner);
  }
  return bytes;
}
