/** `npm run check -- first-contact DIR`: reads recordings of SDKs that no reader has seen before, and prints how well. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import measured from './data/first-contact.json' with { type: 'json' };
import { firstContact } from './first-contact-report.ts';
import { recordingsIn } from './read.ts';

const help = `npm run check -- first-contact [--wrong | --json] DIR

Reads every recording DIR/<instrumentation>/<scenario>/ with an expected.json by all collectors, and prints
by field and by instrumentation: equal recordings, claims, wrong claims, missing values.
The last line holds the totals.

  --wrong   also lists each wrong claim
  --json    prints rows for test/recordings/data/first-contact.json instead, with today's date and the commit
  --help    prints this text`;

function main(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { wrong: { type: 'boolean' }, json: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help === true) return print([help], 0);
  const [folder] = positionals;
  if (folder === undefined || positionals.length > 1) return print([help], 2);
  const recordings = existsSync(folder) ? recordingsIn(folder) : [];
  if (recordings.length === 0) return print([`first-contact: no recording in ${folder}`], 2);
  const { lines, wrong, rows } = firstContact(recordings);
  if (values.json !== true) return print([...(values.wrong === true ? wrong : []), ...lines], 0);
  const batch = Math.max(...measured.map((row) => row.batch)) + 1;
  const commit = execFileSync('git', ['rev-parse', '--short=8', 'HEAD'], { encoding: 'utf8' }).trim();
  const about = { measured: new Date().toISOString().slice(0, 10), commit, batch };
  return print(
    rows.map((row) => JSON.stringify({ ...about, ...row })),
    0,
  );
}

function print(lines: readonly string[], code: number): number {
  process.stdout.write(`${lines.join('\n')}\n`);
  return code;
}

process.exitCode = main();
