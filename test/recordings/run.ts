/** `npm run test:recordings`: plays every recording and compares. TRACEJURY_RECORDINGS_DIR replaces the folder; an argument picks by name. */
import { fileURLToPath } from 'node:url';
import { reportOf } from './report.ts';
import { recordingsIn } from './read.ts';

const ours = fileURLToPath(new URL('../fixtures/recordings', import.meta.url));

function main(): void {
  const only = process.argv[2];
  const recordings = recordingsIn(process.env['TRACEJURY_RECORDINGS_DIR'] ?? ours).filter(
    ({ name }) => only === undefined || name.includes(only),
  );
  const knownDialects = new Set(recordingsIn(ours).map(({ expected }) => expected.dialect));
  const { lines, passed, failed } = reportOf(recordings, { knownDialects, isDetailed: only !== undefined });
  for (const line of lines) console.log(line);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

main();
