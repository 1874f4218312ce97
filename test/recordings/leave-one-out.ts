/**
 * `npm run check -- leave-one-out`: plays every recording without the collectors of SDKs, only with those of conventions and the reader by evidence,
 * and counts the claims. An argument picks recordings by name and shows each wrong claim.
 */
import { ownRecordings } from './read.ts';
import { claimTables, confidenceTable, measured } from './left-out.ts';

const only = process.argv[2];
const recordings = ownRecordings().filter(({ name }) => only === undefined || only === 'wrong' || name.includes(only));
const all = measured(recordings);
const wrong =
  only === undefined
    ? []
    : all.flatMap(({ recording, claims }) =>
        claims.flatMap(({ state, detail }) => (state === 'wrong' ? [`${recording.name}  ${detail}`] : [])),
      );
process.stdout.write(`${[...claimTables(all), '', ...confidenceTable(all), ...wrong].join('\n')}\n`);
