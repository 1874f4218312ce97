/** Runs whose `tracestate` claims a smaller probability than is believed: counted for the API, and told in the log once. */
import type { ApiDeps } from '../web/api/route.ts';

export interface RaisedProbabilities extends Readonly<ApiDeps['upstream']> {
  /** Such a run has come. */
  readonly add: () => void;
}

export function raisedProbabilities(probabilityMin: number, logger: { warn(fields: object, message: string): void }): RaisedProbabilities {
  let runs = 0;
  return {
    probabilityMin,
    raised: () => runs,
    add() {
      runs++;
      if (runs === 1)
        logger.warn(
          { upstream_probability: probabilityMin },
          'a run claims in tracestate a smaller probability than limits.upstream_probability and counts as if it had that one; further runs are counted in tracejury_sampling_raised_total',
        );
    },
  };
}
