/** A share of the runs by their trace ids: the same ones each time, and a larger share holds all of a smaller one. */
import { sampleDecision } from '../../pipeline/evaluation/sampling.ts';
import type { MatchedItem } from './item.ts';

/** Never none of them: a gate over nothing would say nothing. */
export function sampledItems<Item extends MatchedItem>(items: readonly Item[], percent: number): readonly Item[] {
  const kept = items.filter(({ run: { traceId } }) => sampleDecision({ traceId, traceState: '', rate: percent / 100 }).sampled);
  if (kept.length > 0) return kept;
  const first = items
    .map(({ run }) => run.traceId)
    .reduce((best, id) => (randomPart(id) > randomPart(best) ? id : best), items[0]?.run.traceId ?? '');
  return items.filter(({ run }) => run.traceId === first);
}

/** The bits that the sampler looks at. */
function randomPart(traceId: string): string {
  return traceId.slice(-14);
}
