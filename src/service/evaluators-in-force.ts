/** The evaluators of a configuration as the API lists them. */
import type { Config } from '../config/config.ts';
import { judgesOf } from '../pipeline/jury/jury-panel.ts';
import type { EvaluatorInForce } from '../web/api/route.ts';

/** In the order of the file. */
export function evaluatorsInForce({ evaluators }: Pick<Config, 'evaluators'>): readonly EvaluatorInForce[] {
  return evaluators.map(({ configured, judge, panel, sampleRate, when }) => {
    const { name, kind, threshold, evaluator } = configured;
    return {
      name,
      evaluator: evaluator.id,
      kind,
      version: evaluator.version,
      summary: evaluator.summary,
      threshold,
      target: evaluator.target ?? 'run',
      judges: panel === undefined ? (judge === undefined ? [] : [judge]) : judgesOf(panel),
      sampleRate,
      isConditional: when !== undefined,
    };
  });
}
