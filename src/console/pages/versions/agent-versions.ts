/** Versions of agents, read from `GET /versions`: by agent, in order of time, and as points of charts. */
import type { Estimate } from '../../parts/estimate.ts';
import type { RangePoint } from '../../parts/point-range.ts';

/** The members of the API's `Version` that this file reads. */
export interface VersionFigures {
  readonly agent: string | null;
  readonly version: string | null;
  readonly first_seen: string;
  readonly last_seen: string;
  readonly runs: number;
  readonly cost_per_run: number | null;
  readonly median_seconds: number | null;
  readonly p95_seconds: number | null;
  readonly models: readonly NamedRuns[];
  readonly prompts: readonly NamedRuns[];
  readonly evaluators: readonly { readonly name: string; readonly measure: string; readonly rate: Estimate }[];
}

export interface NamedRuns {
  readonly name: string;
  readonly runs: number;
}

export interface AgentVersions<V> {
  readonly agent: string | null;
  /** The newest first. */
  readonly versions: readonly V[];
  readonly newest: V;
  readonly runs: number;
  readonly lastSeen: string;
}

/** The agent with the newest run first. */
export function agentsOf<V extends VersionFigures>(versions: readonly V[]): readonly AgentVersions<V>[] {
  return [...Map.groupBy(versions, ({ agent }) => agent)]
    .flatMap(([agent, own]) => {
      const ordered = newestFirst(own);
      const [newest] = ordered;
      if (newest === undefined) return [];
      const lastSeen = own.reduce((last, one) => (Date.parse(one.last_seen) > Date.parse(last) ? one.last_seen : last), newest.last_seen);
      return [{ agent, versions: ordered, newest, runs: own.reduce((sum, { runs }) => sum + runs, 0), lastSeen }];
    })
    .sort((one, other) => Date.parse(other.lastSeen) - Date.parse(one.lastSeen));
}

export function newestFirst<V extends VersionFigures>(versions: readonly V[]): readonly V[] {
  return versions.toSorted((one, other) => Date.parse(other.first_seen) - Date.parse(one.first_seen));
}

export interface EvaluatorPoints {
  readonly name: string;
  readonly measure: string;
  /** One for each version, the oldest first. */
  readonly points: readonly RangePoint[];
}

/** Charts of rates: an evaluator without any figure has none. Those whose newest rate is lowest come first. */
export function ratePoints(versions: readonly VersionFigures[]): readonly EvaluatorPoints[] {
  const ordered = newestFirst(versions).toReversed();
  const names = new Map(ordered.flatMap(({ evaluators }) => evaluators.map(({ name, measure }) => [name, measure] as const)));
  return [...names]
    .map(([name, measure]) => ({
      name,
      measure,
      points: ordered.map(({ version, evaluators }) => {
        const rate = evaluators.find((one) => one.name === name)?.rate;
        return { label: version ?? '–', point: rate?.point ?? null, low: rate?.low ?? null, high: rate?.high ?? null };
      }),
    }))
    .filter(({ points }) => points.some(({ point }) => point !== null))
    .sort((one, other) => newestPoint(one) - newestPoint(other) || (one.name < other.name ? -1 : 1));
}

function newestPoint({ points }: EvaluatorPoints): number {
  return points.findLast(({ point }) => point !== null)?.point ?? 2;
}

/** One point without an interval for each version, the oldest first. */
export function figurePoints<V extends VersionFigures>(versions: readonly V[], of: (version: V) => number | null): readonly RangePoint[] {
  return newestFirst(versions)
    .toReversed()
    .map((version) => ({ label: version.version ?? '–', point: of(version), low: null, high: null }));
}

export interface NamedChange {
  readonly name: string;
  /** Share of the runs, or calls, of each version; 0: none. */
  readonly before: number;
  readonly now: number;
}

/** Names whose share differs by a tenth or more, or that only one version has; the largest change first. */
export function namedChanges(before: readonly NamedRuns[], now: readonly NamedRuns[]): readonly NamedChange[] {
  const share = (of: readonly NamedRuns[]): ReadonlyMap<string, number> => {
    const all = of.reduce((sum, { runs }) => sum + runs, 0);
    return new Map(of.map(({ name, runs }) => [name, all === 0 ? 0 : runs / all]));
  };
  const [old, fresh] = [share(before), share(now)];
  return [...new Set([...old.keys(), ...fresh.keys()])]
    .map((name) => ({ name, before: old.get(name) ?? 0, now: fresh.get(name) ?? 0 }))
    .filter((one) => one.before === 0 || one.now === 0 || Math.abs(one.now - one.before) >= 0.1)
    .sort((one, other) => Math.abs(other.now - other.before) - Math.abs(one.now - one.before));
}
