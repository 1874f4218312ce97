/** Durations of runs by the bucket of a quantile sketch, as the name of a figure. Sums by version and sums over time thus give the same quantiles. */
import type { QuantileSketch } from '../model/quantile-sketch.ts';
import { bucketIndex } from './quantile-sketch.ts';
import { addEncoded, sketchOfSum, sketchSum } from './sketch-sum.ts';

/** The bin of durations of 0 or below. */
const zeroBin = 'zero';

export function durationBin(micros: number): string {
  return micros > 0 ? String(bucketIndex(micros)) : zeroBin;
}

export function sketchOfBins(bins: readonly { readonly name: string; readonly runs: number }[]): QuantileSketch {
  const sum = sketchSum();
  for (const { name, runs } of bins) addEncoded(sum, name === zeroBin ? [runs] : [0, Number(name), runs]);
  return sketchOfSum(sum);
}
