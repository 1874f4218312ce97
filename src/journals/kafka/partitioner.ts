/** Chooses the partition of a key. The OpenTelemetry Collector decides in the same way, so its records and ours of one trace meet. */

const offsetBasis = 0x811c9dc5;
const prime = 0x01000193;

/** FNV-1a of 32 bits. */
export function fnv1a(key: Uint8Array): number {
  let hash = offsetBasis;
  for (const byte of key) hash = Math.imul(hash ^ byte, prime);
  return hash >>> 0;
}

/** As the hash partitioner of sarama: the hash as a signed number, and the remainder without its sign. */
export function partitionOf(key: Uint8Array, partitions: number): number {
  return Math.abs((fnv1a(key) | 0) % partitions);
}
