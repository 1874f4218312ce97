/** Plays recordings, by all collectors or without those of SDKs, and counts what the runs claim. */
import { confidences, evidenceClasses, type EvidenceClass } from '../../src/model/evidence.ts';
import type { Collector } from '../../collectors/collector.ts';
import { collectors } from '../../collectors/index.ts';
import { isClaimed } from './claimed.ts';
import { claimFields, claimsOf, type Claim } from './claims.ts';
import { differences } from './compare.ts';
import { play, type Recording } from './read.ts';

/** The readers of an SDK that no collector names. Other SDKs write OpenLLMetry's names too, but here it is an SDK. */
export const byEvidence: readonly Collector[] = collectors.filter(
  ({ id, isConvention, recognisedBy }) => (isConvention === true && id !== 'traceloop') || recognisedBy.evidence !== undefined,
);

export interface Measured {
  readonly recording: Recording;
  readonly claims: readonly Claim[];
  readonly isEqual: boolean;
}

/** Leaves out the recordings whose bytes lack the value. */
export function measured(recordings: readonly Recording[]): readonly Measured[] {
  return measuredBy(
    byEvidence,
    recordings.filter(({ expected }) => isClaimed(expected)),
  );
}

export function measuredBy(readers: readonly Collector[], recordings: readonly Recording[]): readonly Measured[] {
  return recordings.map((recording) => {
    const { runs } = play(recording, readers);
    return {
      recording,
      claims: claimsOf(recording.expected, runs),
      isEqual: differences(recording.expected, runs).length === 0,
    };
  });
}

/** By field, and by instrumentation, in Markdown. Instrumentations that `isShown` refuses share a row. */
export function claimTables(all: readonly Measured[], isShown: (own: readonly Measured[]) => boolean = () => true): readonly string[] {
  const claims = all.flatMap((one) => one.claims);
  const count = (some: readonly Claim[], state: Claim['state']): number => some.filter((claim) => claim.state === state).length;
  const row = (title: string, some: readonly Claim[]): string => {
    const [right, wrong, silent] = [count(some, 'right'), count(some, 'wrong'), count(some, 'not claimed')];
    return `| ${title} | ${right + wrong} | ${right} | ${wrong} | ${share(wrong, right + wrong)} | ${silent} |`;
  };
  const folders = [...Map.groupBy(all, ({ recording }) => recording.name.split('/')[0] ?? '')].sort(([a], [b]) => (a < b ? -1 : 1));
  const shown = folders.filter(([, own]) => isShown(own));
  const others = folders.filter(([, own]) => !isShown(own));
  return [
    '| field | claimed | right | wrong | wrong share | not claimed |',
    '|---|---|---|---|---|---|',
    ...claimFields.map((field) =>
      row(
        field,
        claims.filter((claim) => claim.field === field),
      ),
    ),
    row('all', claims),
    '',
    '| instrumentation | recordings | equal | claimed | wrong | not claimed | wrong in |',
    '|---|---|---|---|---|---|---|',
    ...[
      ...shown,
      ...(others.length === 0 ? [] : [[`${others.length} others`, others.flatMap(([, own]) => own)] as const]),
      ['all', all] as const,
    ].map(([folder, some]) => {
      const own = some.flatMap((one) => one.claims);
      const [wrong, silent] = [count(own, 'wrong'), count(own, 'not claimed')];
      const equal = some.filter(({ isEqual }) => isEqual).length;
      return `| ${[folder, some.length, equal, own.length - silent, wrong, silent, some === all ? '' : wrongIn(own)].join(' | ')} |`;
    }),
  ];
}

/** The fields of wrong claims, with their number. */
function wrongIn(claims: readonly Claim[]): string {
  const fields = Map.groupBy(
    claims.filter(({ state }) => state === 'wrong'),
    ({ field }) => field,
  );
  return [...fields].map(([field, own]) => `${field} ${own.length}`).join(', ');
}

/** Claims whose evidence is known, by how they are known. */
export function claimsByClass(all: readonly Measured[]): ReadonlyMap<EvidenceClass, { readonly right: number; readonly wrong: number }> {
  const claims = all.flatMap((one) => one.claims);
  return new Map(
    evidenceClasses.map((by) => {
      const own = claims.filter((claim) => claim.by === by);
      return [
        by,
        { right: own.filter(({ state }) => state === 'right').length, wrong: own.filter(({ state }) => state === 'wrong').length },
      ];
    }),
  );
}

export function confidenceTable(all: readonly Measured[]): readonly string[] {
  return [
    '| class | values | right | wrong | confidence |',
    '|---|---|---|---|---|',
    ...[...claimsByClass(all)].map(
      ([by, { right, wrong }]) => `| \`${by}\` | ${right + wrong} | ${right} | ${wrong} | ${confidences[by]} |`,
    ),
  ];
}

export function share(part: number, whole: number): string {
  return whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`;
}
