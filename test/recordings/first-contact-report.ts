/** How well recordings of SDKs are read that no reader has seen before, in every form that `npm run check -- first-contact` prints. */
import { collectors } from '../../collectors/index.ts';
import type { Contact } from './first-contact-table.ts';
import { claimTables, measuredBy, share, type Measured } from './left-out.ts';
import type { Recording } from './read.ts';

interface ContactReport {
  /** Tables by field and by instrumentation, then a line with totals. */
  readonly lines: readonly string[];
  readonly wrong: readonly string[];
  /** Rows of `data/first-contact.json`, without date and batch. */
  readonly rows: readonly Contact[];
}

export function firstContact(recordings: readonly Recording[]): ContactReport {
  const all = measuredBy(collectors, recordings);
  const [right, wrong, missing] = counts(all);
  const equal = all.filter(({ isEqual }) => isEqual).length;
  return {
    lines: [
      ...claimTables(all),
      '',
      `${equal} of ${all.length} recordings equal; ${wrong} of ${right + wrong} claims wrong (${share(wrong, right + wrong)}), ${missing} values missing`,
    ],
    wrong: all.flatMap(({ recording, claims }) =>
      claims.flatMap(({ state, detail }) => (state === 'wrong' ? [`${recording.name}  ${detail}`] : [])),
    ),
    rows: [...Map.groupBy(all, ({ recording }) => recording.name.split('/')[0] ?? '')].map(([instrumentation, own]) => ({
      instrumentation,
      scenarios: Object.fromEntries(
        own.map((one) => {
          const [own, wrong, missing] = counts([one]);
          return [one.recording.name.split('/')[1] ?? '', { equal: one.isEqual, right: own, wrong, missing }];
        }),
      ),
    })),
  };
}

function counts(all: readonly Measured[]): readonly [right: number, wrong: number, missing: number] {
  const count = (state: 'right' | 'wrong' | 'not claimed'): number =>
    all.reduce((sum, { claims }) => sum + claims.filter((claim) => claim.state === state).length, 0);
  return [count('right'), count('wrong'), count('not claimed')];
}
