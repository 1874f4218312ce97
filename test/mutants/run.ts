/**
 * `npm run check -- mutants --count N --seed S`: takes N single changes at random places of `src`, `collectors` and `evaluators`, and reports for each whether a test
 * notices it. `--from K` begins with the K-th, so that a long run goes in pieces; `--only TEXT` takes places whose path holds the text. Changes are made in a copy of
 * the repository in a temporary folder, never here. Child processes and worker threads see them too, which a transform of the test runner would not reach.
 */
import { fileURLToPath } from 'node:url';
import { seeded, type Chance } from '../builders/seeded.ts';
import { isCode, isProduct, lineOf, type SourceFile } from '../tidy/source.ts';
import { repositoryFiles } from '../tidy/tree.ts';
import { equivalents } from './equivalent.ts';
import { mutantsOf, type Mutant } from './mutations.ts';
import { nearestTests } from './nearest.ts';
import { trials, type Outcome, type Trials } from './trial.ts';
import { runnerArguments } from '../runner-arguments.ts';

/** Share of the changes that must be noticed. */
const killedShareMin = 0.95;

const { values } = runnerArguments({
  options: {
    count: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    only: { type: 'string', default: '' },
  },
});
const files = repositoryFiles().filter(isCode);
const wanted = chosen(
  files.filter((file) => isProduct(file) && file.path.includes(values.only)),
  Number(values.count),
  seeded(Number(values.seed)),
).slice(Number(values.from));
const copies = trials(fileURLToPath(new URL('../..', import.meta.url)), say);
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.once(signal, () => process.exit(code));
process.once('exit', () => copies.end());
process.exitCode = await tryAll(copies);

async function tryAll({ outcomeOf }: Trials): Promise<number> {
  const testsOf = nearestTests(files);
  const known = new Set(
    files
      .filter(isProduct)
      .flatMap(mutantsOf)
      .map(({ change }) => change),
  );
  for (const change of equivalents.keys()) if (!known.has(change)) say(`no such change any more: ${change}`);
  const found: Record<Outcome['kind'], Mutant[]> = { killed: [], survived: [], undecided: [] };
  let equivalent = 0;
  for (const mutant of wanted) {
    const reason = equivalents.get(mutant.change);
    if (reason !== undefined) {
      equivalent++;
      say(`equivalent  ${place(mutant)}  ${mutant.change}: ${reason}`);
      continue;
    }
    const beganMs = Date.now();
    const outcome = await outcomeOf(mutant, testsOf(mutant.path));
    found[outcome.kind].push(mutant);
    say(
      `${outcome.kind}${outcome.kind === 'killed' ? ` by ${outcome.by}` : ''}  ${place(mutant)}  ${mutant.change}  ${((Date.now() - beganMs) / 1000).toFixed(0)} s`,
    );
  }
  for (const kind of ['survived', 'undecided'] as const)
    for (const mutant of found[kind]) say(`${kind.toUpperCase()}  ${place(mutant)}  ${mutant.change}`);
  const [killed, survived, undecided] = [found.killed.length, found.survived.length, found.undecided.length];
  say(`${killed} killed, ${survived} survived, ${undecided} undecided, ${equivalent} equivalent and left out`);
  // A change that no run decided is not shown to be noticed.
  return killed > 0 && killed / (killed + survived + undecided) >= killedShareMin ? 0 : 1;
}

/** One of each folder while there are folders, then by chance over all places. */
function chosen(from: readonly SourceFile[], count: number, chance: Chance): readonly Mutant[] {
  const all = from.flatMap(mutantsOf);
  const first = [
    ...Map.groupBy(all, ({ path }) =>
      path
        .split('/')
        .slice(0, path.startsWith('src/') ? 2 : 1)
        .join('/'),
    ).values(),
  ].map((folder) => chance.pick(folder));
  return [...new Set([...chance.shuffled(first), ...chance.shuffled(all)])].slice(0, count);
}

function place({ path, start }: Mutant): string {
  return `${path}:${lineOf(files.find((file) => file.path === path)?.text ?? '', start)}`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
