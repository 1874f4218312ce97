/** Looks of drift watches in a store that ends with the process. */
import { driftMeasurementsMax, type DriftMeasurement, type DriftStore } from '../model/store/drift-store.ts';

/** Evaluators with looks; beyond it those go of which none came for longest. */
const namesMax = 1_000;

export function memoryDrift(): DriftStore {
  /** Newest look first. */
  const byName = new Map<string, readonly DriftMeasurement[]>();
  const of = (name: string): readonly DriftMeasurement[] => byName.get(name) ?? [];
  return {
    names: async () => [...byName.keys()].sort(),
    looks: async ({ name, state, limit }) =>
      of(name)
        .filter((one) => state === undefined || one.state === state)
        .slice(0, limit),
    baseline: async (name, series) => of(name).find((one) => one.series.number === series && one.look === 0 && one.state === 'kept'),
    async write(look) {
      const rows = [look, ...of(look.name).filter((one) => one.series.number !== look.series.number || one.look !== look.look)].sort(
        (one, other) => other.series.number - one.series.number || other.look - one.look,
      );
      const newest = rows[0]?.series.number;
      byName.delete(look.name);
      byName.set(
        look.name,
        rows.filter((one, at) => at < driftMeasurementsMax || (one.look === 0 && one.series.number === newest)),
      );
      const [oldest] = byName.keys();
      if (byName.size > namesMax && oldest !== undefined) byName.delete(oldest);
    },
  };
}
