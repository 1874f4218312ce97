/** The last look of each drift watch as gauges: what dashboards and alerts look at. */
import { driftFigures } from '../analytics/drift.ts';
import type { DriftMeasurement, DriftStore, DriftWord } from '../model/store/drift-store.ts';
import type { MetricRegistry } from '../telemetry/registry.ts';
import type { Labels } from '../telemetry/telemetry.ts';
import type { Watch } from './drift-baseline.ts';

const directions: { readonly [word in DriftWord]: number } = { passes_more: 1, no_change_shown: 0, passes_less: -1 };

interface Told {
  readonly labels: Labels;
  readonly look: DriftMeasurement;
}

export async function tellDrift({
  store,
  telemetry,
  watches,
}: {
  readonly store: Pick<DriftStore, 'looks'>;
  readonly telemetry: Pick<MetricRegistry, 'replace'>;
  readonly watches: readonly Watch[];
}): Promise<void> {
  const told: Told[] = [];
  for (const { name, judge, model } of watches) {
    const [look] = await store.looks({ name, state: 'kept', limit: 1 });
    if (look !== undefined)
      told.push({ labels: { 'gen_ai.evaluation.name': name, 'tracejury.judge': judge, 'gen_ai.request.model': model }, look });
  }
  // After a baseline nothing can have changed yet.
  telemetry.replace(
    'tracejury.judge.drift',
    told.map(({ labels, look: { result } }) => ({ labels, value: directions[result?.shown ?? 'no_change_shown'] })),
  );
  telemetry.replace('tracejury.judge.drift.flipped', told.flatMap(flipped));
  telemetry.replace(
    'tracejury.judge.drift.looked',
    told.map(({ labels, look: { endedAt = 0 } }) => ({ labels, value: endedAt / 1_000_000 })),
  );
}

/** Without runs to compare there is no share. */
function flipped({ labels, look: { look, result } }: Told): readonly { readonly labels: Labels; readonly value: number }[] {
  const figures = result === undefined ? undefined : driftFigures(result.counts, { look, planned: result.planned });
  if (figures?.kind !== 'estimated' || figures.flipped.kind !== 'estimated') return [];
  const share = figures.flipped;
  return (['point', 'low', 'high'] as const).map((bound) => ({ labels: { ...labels, 'tracejury.bound': bound }, value: share[bound] }));
}
