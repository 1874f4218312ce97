/** `npm run test:conformance`: a table by file; the last line is `N passed, M failed`; exit 1 on a failure. */
import { runVectors } from './conformance.ts';
import type { CaseResult } from './conformance.ts';
import { disputed } from './disputed.ts';
import { readVectors, vectorFolder } from './vectors.ts';

const kinds: readonly CaseResult['kind'][] = ['passed', 'failed', 'declined', 'disputed', 'not built'];
const files = runVectors(readVectors(vectorFolder()));
const count = (results: readonly { readonly result: CaseResult }[], kind: CaseResult['kind']): number =>
  results.filter(({ result }) => result.kind === kind).length;
const row = (name: string, cells: readonly (string | number)[]): string =>
  `${name.padEnd(30)}${cells.map((cell) => String(cell).padStart(10)).join('')}\n`;

process.stdout.write(row('file', kinds));
for (const { name, results } of files) {
  process.stdout.write(
    row(
      name,
      kinds.map((kind) => count(results, kind)),
    ),
  );
  for (const { id, result } of results)
    if (result.kind === 'failed' || result.kind === 'declined') process.stdout.write(`    ${result.kind} ${id}: ${result.problem}\n`);
}
for (const { file, id, details, reason } of disputed) process.stdout.write(`disputed: ${file} ${id} (${details.join(', ')}): ${reason}\n`);
const all = files.flatMap(({ results }) => results);
process.stdout.write(`${count(all, 'passed')} passed, ${count(all, 'failed')} failed\n`);
process.exitCode = count(all, 'failed') === 0 ? 0 : 1;
