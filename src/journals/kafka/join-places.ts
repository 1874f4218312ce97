/**
 * Chooses the process that joins traces to runs. All traces of a tenant that may hold parts of one run come together in one partition, whose owner joins them:
 * every process knows it without asking. A trace elsewhere is written again into that partition.
 */
import type { BundlePart } from '../../otlp/cut/bundle.ts';
import { recentMap } from '../../model/recent-map.ts';
import { tenantOf, traceIdOf } from '../../pipeline/gathering/trace-table.ts';
import { partitionOf } from './partitioner.ts';
import { claimRecord, movedRecord, type KeyedRecord } from './requests.ts';

interface Place {
  readonly partition: number;
  readonly moves: number;
}

interface JoinPlacesOptions {
  readonly isOwned: (partition: number) => boolean;
  /** Partitions of the topic. */
  readonly partitions: () => number;
  readonly nowMs: () => number;
}

export interface JoinPlaces {
  /** True when this process joins the trace with this key. */
  joins(key: string): boolean;
  /** The partition that the records of the trace are in, where this process owns one of them. */
  ownedOf(key: string): number | undefined;
  /** A record of the trace came to this partition from the process that gathered it before. */
  came(key: string, place: Place): void;
  /** The trace is joined here, where the records that this process has of it are. */
  stays(key: string, partition: number): void;
  moved(key: string, part: BundlePart): KeyedRecord;
  /** Has the owner of the trace hand it over. `undefined` when it is here, or its owner was asked. */
  claim(key: string): KeyedRecord | undefined;
  /** Its owner was not asked after all. */
  unclaim(key: string): void;
}

/** While partitions are added, processes disagree for some seconds on who joins. After this many moves a trace stays in its place. */
const movesMax = 4;
const movedMax = 50_000;
const claimedMax = 50_000;
const tenantsMax = 1_000;

export function joinPlaces({ isOwned, partitions, nowMs }: JoinPlacesOptions): JoinPlaces {
  /** Traces that came to a partition whose owner does not join them any more. */
  const astray = recentMap<string, Place>(movedMax);
  const claimed = recentMap<string, number>(claimedMax);
  /** It is asked for with each span. */
  let known = { partitions: 0, byTenant: recentMap<string, number>(tenantsMax) };

  const placeOf = (text: string): number => partitionOf(Buffer.from(text), Math.max(1, partitions()));
  const homeOf = (key: string): number => placeOf(traceIdOf(key));

  function joinedAt(key: string): number {
    if (known.partitions !== partitions()) known = { partitions: partitions(), byTenant: recentMap(tenantsMax) };
    const tenant = tenantOf(key);
    const place = known.byTenant.get(tenant);
    if (place !== undefined) return place;
    const found = placeOf(tenant);
    known.byTenant.set(tenant, found);
    return found;
  }

  return {
    joins: (key) => isOwned(joinedAt(key)) || (astray.get(key)?.moves ?? 0) >= movesMax,
    ownedOf: (key) => [homeOf(key), joinedAt(key), astray.get(key)?.partition ?? -1].find(isOwned),
    came(key, place) {
      if (place.partition === joinedAt(key)) astray.delete(key);
      else astray.set(key, place);
    },
    stays(key, partition) {
      astray.set(key, { partition, moves: movesMax });
    },
    moved: (key, part) => movedRecord(key, part, { partition: joinedAt(key), moves: (astray.get(key)?.moves ?? 0) + 1, nowMs: nowMs() }),
    claim(key) {
      const home = homeOf(key);
      if (isOwned(home) || claimed.get(key) === home) return undefined;
      claimed.set(key, home);
      return claimRecord(key, { partition: home, nowMs: nowMs() });
    },
    unclaim(key) {
      claimed.delete(key);
    },
  };
}
