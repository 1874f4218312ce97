/** `tracejury dataset`: converts test sets of other libraries into datasets for `tracejury eval`. */
import { unreadable } from '../../model/errors.ts';
import { stringify } from 'yaml';
import { evaluators } from '../../../evaluators/index.ts';
import { type Command, type CommandInput, type ExitCode, UsageError, writeOutput } from '../command.ts';
import { adk } from '../dataset/adk.ts';
import { agentevals } from '../dataset/agentevals.ts';
import { deepeval } from '../dataset/deepeval.ts';
import { dokimos } from '../dataset/dokimos.ts';
import { filled, type ImportedExample, type SetFormat } from '../dataset/entries.ts';
import { datasetOf } from '../eval/dataset.ts';
import { readBodies } from '../inspect/recording.ts';
import { type JsonObject, jsonText, type JsonValue, parseJson } from '../../model/json.ts';

const faultsMax = 20;
const setFormats: readonly SetFormat[] = [deepeval, agentevals, adk, dokimos];
const formatNames = setFormats.map(({ name }) => name).join('|');

export const dataset: Command = {
  name: 'dataset',
  usage: 'import FILE --from NAME [options]',
  summary: 'Converts a test set of another library into a dataset for tracejury eval.',
  subcommands: [
    {
      name: 'import',
      usage: 'FILE --from NAME [options]',
      summary: 'Reads a test set of another library and writes it as a dataset, with its recorded runs.',
      options: ['from', 'output', 'runs'],
      examples: [
        { does: 'Imports goldens as YAML:', line: 'tracejury dataset import goldens.json --from deepeval --output dataset.yaml' },
        { does: 'Also writes the recorded runs:', line: 'tracejury dataset import cases.json --from deepeval --runs runs.jsonl' },
      ],
    },
  ],
  examples: [{ does: 'Imports goldens as YAML:', line: 'tracejury dataset import goldens.json --from deepeval --output dataset.yaml' }],
  options: {
    from: { type: 'string', value: 'NAME', summary: setFormats.map(({ name, summary }) => `${name}: ${summary}`).join('; ') },
    output: {
      type: 'string',
      value: 'FILE',
      summary: 'writes the dataset to this file: .yaml, .json, or else JSON lines (default: standard output)',
    },
    runs: {
      type: 'string',
      value: 'FILE',
      summary: 'writes the runs of the test set to this file, for tracejury eval',
    },
  },
  positionalsMax: 2,
  async run(input) {
    const [action = '', file] = input.positionals;
    if (action !== 'import') throw new UsageError(action === '' ? 'Name the action: import.' : `${JSON.stringify(action)} is not import.`);
    if (file === undefined) throw new UsageError('Name the file of the test set, or - for standard input.');
    return await imported(input, file);
  },
};

async function imported({ options, say, complain }: CommandInput, file: string): Promise<ExitCode> {
  const format = setFormats.find(({ name }) => name === options['from']);
  if (format === undefined) throw new UsageError(`--from takes one of ${formatNames.replaceAll('|', ', ')}.`);
  const [body] = await readBodies([file], process.stdin);
  const where = body?.name ?? file;
  const { examples: read, faults, leftOut } = format.read(valueOf(where, body?.bytes.toString('utf8') ?? ''));
  if (faults.length > 0)
    throw unreadable(
      where,
      `${faults.slice(0, faultsMax).join('; ')}${faults.length > faultsMax ? `; and ${faults.length - faultsMax} more` : ''}.`,
    );
  for (const reason of leftOut) complain(`${where}: left out: ${reason}`);
  if (read.length === 0) throw unreadable(where, 'it has no example.');
  const { examples, runs } = importedFiles(read);
  // Checks that `eval` can read the output.
  datasetOf(where, examples, { members: evaluators, plan: [], judges: [] });
  const output = options['output'] === undefined ? undefined : String(options['output']);
  if (output === undefined) say(datasetText(examples, output));
  else written('output', output, examples);
  if (options['runs'] !== undefined) written('runs', String(options['runs']), runs);
  complain(
    `${examples.length} ${examples.length === 1 ? 'example' : 'examples'}, ${runs.length} recorded ${runs.length === 1 ? 'run' : 'runs'}${runs.length > 0 && options['runs'] === undefined ? ' (--runs FILE writes them)' : ''}`,
  );
  return 0;
}

/** JSON, or a JSON value a line. */
function valueOf(where: string, given: string): JsonValue {
  const text = given.replace(/^\uFEFF/, '');
  const whole = parseJson(text);
  if (whole !== undefined) return whole;
  return text.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return [];
    const value = parseJson(line);
    if (value === undefined) throw unreadable(where, `line ${at + 1} is not JSON, and neither is the whole file.`);
    return [value];
  });
}

/** `eval` reads runs line by line from every file but a .json file, so no runs are written as YAML. */
function written(option: string, file: string, values: readonly JsonObject[]): void {
  writeOutput(option, file, datasetText(values, option === 'runs' ? file.replace(/\.ya?ml$/i, '') : file));
}

interface ImportedFiles {
  readonly examples: readonly JsonObject[];
  /** Runs of the test set, each with the id of its example. */
  readonly runs: readonly JsonObject[];
}

/** Makes ids unique: `eval` matches runs to examples by them. */
function importedFiles(imported: readonly ImportedExample[]): ImportedFiles {
  const ids = uniqueIds(imported);
  const examples = imported.map(({ run: _run, id: _id, ...example }, at) => filled({ id: ids[at], ...example }) ?? {});
  const runs = imported.flatMap(({ run }, at) => (run === undefined ? [] : [filled({ id: ids[at], ...run }) ?? {}]));
  return { examples, runs };
}

/** Writes YAML, JSON or JSON lines by the extension of the file. */
function datasetText(values: readonly JsonObject[], file: string | undefined): string {
  if (file !== undefined && /\.ya?ml$/i.test(file)) return stringify(values, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd();
  const lines = values.map((value) => jsonText(value));
  return file !== undefined && /\.json$/i.test(file) ? `[\n${lines.map((line) => `  ${line}`).join(',\n')}\n]` : lines.join('\n');
}

function uniqueIds(imported: readonly ImportedExample[]): readonly string[] {
  const seen = new Set<string>();
  const copies = new Map<string, number>();
  return imported.map(({ id }, at) => {
    const wanted = id ?? String(at + 1);
    let copy = copies.get(wanted) ?? 1;
    let free = wanted;
    while (seen.has(free)) free = `${wanted} (${++copy})`;
    copies.set(wanted, copy);
    seen.add(free);
    return free;
  });
}
