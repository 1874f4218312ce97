/** `npm run test:recordings`: plays every recording and compares. TRACEJURY_RECORDINGS_DIR replaces the folders; an argument picks by name. */
import { fileURLToPath } from 'node:url';
import { reportOf } from './report.ts';
import { recordingsIn } from './read.ts';

const ours = ['../fixtures/recordings', 'data', 'kinds'].map((folder) => fileURLToPath(new URL(folder, import.meta.url)));

function main(): void {
  const only = process.argv[2];
  const given = process.env['TRACEJURY_RECORDINGS_DIR'];
  const own = ours.flatMap(recordingsIn);
  const recordings = (given === undefined ? own : recordingsIn(given)).filter(({ name }) => only === undefined || name.includes(only));
  const knownDialects = new Set(own.map(({ expected }) => expected.dialect));
  const { lines, passed, failed } = reportOf(recordings, { knownDialects, isDetailed: only !== undefined });
  for (const line of lines) console.log(line);
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}

main();
