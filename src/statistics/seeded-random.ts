/** Random numbers that repeat themselves: the same seed gives the same sequence. */

const twoTo32 = 4_294_967_296;

/** Mulberry32. Gives numbers from 0 to below 1; 32 bits of state are enough for resampling and simulation. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / twoTo32;
  };
}
