/** Limits of a store by hand: those that are not named let nothing go. */
import type { Retention } from '../../src/model/store/store.ts';

export function retention(given: Partial<Retention> = {}): Retention {
  return {
    runsBefore: 0,
    contentBefore: 0,
    exportsBefore: 0,
    jobsBefore: 0,
    turnsBefore: 0,
    exportsMax: Infinity,
    bytesMax: Infinity,
    stepRuns: 200,
    ...given,
  };
}
