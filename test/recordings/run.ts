/** `npm run test:recordings`: plays every recording and compares. TRACEJURY_RECORDINGS_DIR replaces the folder. */
import { fileURLToPath } from 'node:url';
import { isClaimed } from './claimed.ts';
import { differences } from './compare.ts';
import { play, recordingsIn } from './read.ts';

export const recordingsFolder = process.env['TRACEJURY_RECORDINGS_DIR'] ?? fileURLToPath(new URL('../fixtures/recordings', import.meta.url));

function main(): void {
  const only = process.argv[2];
  let passed = 0;
  let failed = 0;
  let unclaimed = 0;
  let unclaimedEqual = 0;
  for (const recording of recordingsIn(recordingsFolder)) {
    if (only !== undefined && !recording.name.includes(only)) continue;
    const played = play(recording);
    const found = [...differences(recording.expected, played.runs)];
    if (played.spans !== recording.expected.decoded.spans) found.unshift(`decoded ${played.spans} spans instead of ${recording.expected.decoded.spans}`);
    const claimed = isClaimed(recording.expected);
    if (claimed && found.length === 0) passed++;
    else if (claimed) failed++;
    else {
      unclaimed++;
      if (found.length === 0) unclaimedEqual++;
    }
    const state = claimed ? (found.length === 0 ? 'passed' : 'FAILED') : found.length === 0 ? 'equal, not claimed' : 'not claimed';
    console.log(`${recording.name.padEnd(56)} ${recording.expected.dialect.padEnd(24)} ${state}`);
    if (found.length > 0 && (claimed || only !== undefined)) for (const one of found) console.log(`    ${one}`);
  }
  console.log(`\nof ${unclaimed} recordings of dialects that are not claimed yet, ${unclaimedEqual} are equal all the same`);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
