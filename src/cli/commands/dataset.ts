/** `tracejury dataset`: test sets of other libraries become datasets for `tracejury eval`. */
import { writeFileSync } from 'node:fs';
import { evaluators } from '../../../evaluators/index.ts';
import { parseJson, type JsonObject, type JsonValue } from '../../model/json.ts';
import { UsageError, type Command, type CommandInput, type ExitCode } from '../command.ts';
import { setFormats } from '../dataset/formats.ts';
import { datasetText, importedFiles } from '../dataset/dataset-writer.ts';
import { datasetOf } from '../eval/dataset.ts';
import { readBodies, unreadable } from '../inspect/bodies.ts';

const faultsShown = 20;
const formatNames = setFormats.map(({ name }) => name).join('|');

export const dataset: Command = {
  name: 'dataset',
  usage: 'import FILE --from NAME [options]',
  summary: 'Turns a test set of another library into a dataset for tracejury eval.',
  subcommands: [
    {
      name: 'import',
      usage: 'FILE --from NAME [options]',
      summary: 'Reads a test set of another library and writes it as a dataset, with the runs that are recorded in it.',
      options: ['from', 'output', 'runs'],
      examples: [
        { does: 'Imports goldens as YAML:', line: 'tracejury dataset import goldens.json --from deepeval --output dataset.yaml' },
        { does: 'Writes the recorded runs as well:', line: 'tracejury dataset import cases.json --from deepeval --runs runs.jsonl' },
      ],
    },
  ],
  examples: [{ does: 'Imports goldens as YAML:', line: 'tracejury dataset import goldens.json --from deepeval --output dataset.yaml' }],
  options: {
    from: { type: 'string', value: 'NAME', summary: setFormats.map(({ name, summary }) => `${name}: ${summary}`).join('; ') },
    output: {
      type: 'string',
      value: 'FILE',
      summary: 'where the dataset is written: .yaml, .json, else JSON lines; standard output without it',
    },
    runs: {
      type: 'string',
      value: 'FILE',
      summary: 'writes the runs of the test set there, for tracejury eval',
    },
  },
  positionalsMax: 2,
  async run(input) {
    const [action = '', file] = input.positionals;
    if (action !== 'import') throw new UsageError(action === '' ? 'Say import.' : `${JSON.stringify(action)} is not import.`);
    if (file === undefined) throw new UsageError('Name the file of the test set, or - for standard input.');
    return await imported(input, file);
  },
};

async function imported({ options, say, complain }: CommandInput, file: string): Promise<ExitCode> {
  const format = setFormats.find(({ name }) => name === options['from']);
  if (format === undefined) throw new UsageError(`--from is one of ${formatNames.replaceAll('|', ', ')}.`);
  const [body] = await readBodies([file], process.stdin);
  const where = body?.name ?? file;
  const { examples: read, faults, leftOut } = format.read(valueOf(where, body?.bytes.toString('utf8') ?? ''));
  if (faults.length > 0)
    throw unreadable(
      where,
      `${faults.slice(0, faultsShown).join('; ')}${faults.length > faultsShown ? `; and ${faults.length - faultsShown} more` : ''}.`,
    );
  for (const reason of leftOut) complain(`${where}: left out: ${reason}`);
  if (read.length === 0) throw unreadable(where, 'it holds no example.');
  const { examples, runs } = importedFiles(read);
  // `eval` must read the output: this finds the faults that a format lets through.
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
    if (value === undefined) throw unreadable(where, `line ${at + 1} is not JSON, nor is the whole.`);
    return [value];
  });
}

/** Recorded runs are read line by line from every file but a .json file. */
function written(option: string, file: string, values: readonly JsonObject[]): void {
  try {
    writeFileSync(file, `${datasetText(values, option === 'runs' ? file.replace(/\.ya?ml$/i, '') : file)}\n`);
  } catch (error) {
    throw new UsageError(
      `--${option}: ${file} cannot be written (${error instanceof Error && 'code' in error ? String(error.code) : 'unknown'}).`,
    );
  }
}
