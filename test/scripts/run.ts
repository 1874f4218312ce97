/** `npm run check` and `npm run bench`: runs a script of the catalogue, with the arguments after its name. */
import { spawn } from 'node:child_process';
import { catalogues, type Catalogue } from './catalogue.ts';

const [kind = '', ...words] = process.argv.slice(2);
const catalogue: Catalogue | undefined = Object.entries(catalogues).find(([name]) => name === kind)?.[1];
if (catalogue === undefined) throw new Error(`no catalogue is named ${kind}`);
const { scripts, usual } = catalogue;
const [first = ''] = words;
const isNamed = first !== '' && !first.startsWith('-');
const name = isNamed ? first : usual;
const script = name === undefined || !Object.hasOwn(scripts, name) ? undefined : scripts[name];

if (first === '--help' || first === '-h') process.stdout.write(help());
else if (script === undefined) {
  process.stderr.write(isNamed ? `npm run ${kind} knows no ${first}. --help lists the names.\n` : help());
  process.exitCode = 2;
} else run(script.command.split(' '), words.slice(isNamed ? 1 : 0));

function help(): string {
  const width = Math.max(...Object.keys(scripts).map((one) => one.length));
  const rows = Object.entries(scripts).map(([one, { about }]) => `  ${one.padEnd(width)}  ${about}`);
  return `npm run ${kind} -- ${usual === undefined ? 'NAME' : '[NAME]'} [ARGUMENTS]\n\n${rows.join('\n')}\n\nMost of them list their arguments with --help.\n`;
}

function run([program = '', ...own]: readonly string[], more: readonly string[]): void {
  const child = spawn(program, [...own, ...more], { stdio: 'inherit' });
  // A terminal signals the child as well; another program signals only this process.
  process.on('SIGINT', () => undefined);
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  child.once('error', ({ message }) => {
    process.stderr.write(`${message}\n`);
    process.exitCode = 1;
  });
  child.once('exit', (code) => (process.exitCode = code ?? 1));
}
