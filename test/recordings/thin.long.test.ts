/** A collector that recognises spans of its SDK and reads nothing from them takes nothing from the reader by evidence. */
import { expect, test } from 'vitest';
import type { Collector } from '../../collectors/collector.ts';
import { collectors } from '../../collectors/index.ts';
import { isClaimed } from './claimed.ts';
import { claimsOf } from './claims.ts';
import { byEvidence } from './left-out.ts';
import { ownRecordings, play, type Recording } from './read.ts';

const thin: readonly Collector[] = collectors.map((collector) =>
  byEvidence.includes(collector)
    ? collector
    : {
        id: collector.id,
        summary: collector.summary,
        recognisedBy: collector.recognisedBy,
        wants: collector.wants,
        ...(collector.isConvention === undefined ? {} : { isConvention: collector.isConvention }),
        read: () => ({}),
      },
);

const recordings = ownRecordings().filter(({ expected }) => isClaimed(expected));

test.each(recordings.map((recording) => [recording.name, recording] as const))(
  'thin: %s is read as without a collector of its SDK',
  (_name, recording) => {
    expect(toldOf(recording, thin)).toEqual(toldOf(recording, byEvidence));
  },
);

function toldOf(recording: Recording, readers: readonly Collector[]): readonly string[] {
  return claimsOf(recording.expected, play(recording, readers).runs).map(({ state, detail }) => `${state} ${detail}`);
}
