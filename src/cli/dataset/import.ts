/** `tracejury dataset import`: reads a test set and writes it as a dataset file, or puts it into the store. */
import { stringify } from 'yaml';
import { evaluators } from '../../../evaluators/index.ts';
import { type CommandInput, type ExitCode, textOption, UsageError, writeOutput } from '../command.ts';
import { datasetOf, locatedText, type Locate } from '../eval/dataset.ts';
import { readBodies } from '../inspect/recording.ts';
import { withStore } from '../open-store.ts';
import { configuredRedaction } from '../../config/entries/redaction.ts';
import { readConfig } from '../../config/load.ts';
import { redactedExample } from '../../datasets/redacted-example.ts';
import { exampleChecker, readExample } from '../../datasets/example-json.ts';
import type { SetFormat } from '../../datasets/forms/entries.ts';
import { importedFiles, setFormats, setValue } from '../../datasets/forms/import-forms.ts';
import { ownForm } from '../../datasets/forms/own-form.ts';
import { unreadable } from '../../model/errors.ts';
import type { DatasetExample } from '../../model/example.ts';
import { isJsonObject, type JsonObject, jsonText, type JsonValue } from '../../model/json.ts';
import { noTelemetry } from '../../telemetry/telemetry.ts';
import { authorOf, nameOf, putExamples, sayReplaced, sayWritten } from './stored-dataset.ts';

const faultsMax = 20;

export async function importSet(input: CommandInput, file: string | undefined): Promise<ExitCode> {
  if (file === undefined) throw new UsageError('Name the file of the test set, or - for standard input.');
  const to = textOption(input, 'to');
  const key = to === undefined ? undefined : nameOf(input, to);
  if (key !== undefined && textOption(input, 'output') !== undefined)
    throw new UsageError('--to puts the dataset into the store, and --output writes it to a file: give one of them.');
  const format = formatOf(textOption(input, 'from') ?? (to === undefined ? undefined : ownForm.name));
  const [body] = await readBodies([file], process.stdin);
  const where = body?.name ?? file;
  const given = setValue({ where, text: body?.bytes.toString('utf8') ?? '', format }, ownText);
  const { value } = given;
  const { examples: read, faults, leftOut } = format.read(value);
  if (faults.length > 0)
    throw unreadable(
      where,
      `${faults.slice(0, faultsMax).join('; ')}${faults.length > faultsMax ? `; and ${faults.length - faultsMax} more` : ''}.`,
    );
  for (const reason of leftOut) input.complain(`${where}: left out: ${reason}`);
  if (read.length === 0) throw unreadable(where, 'it has no example.');
  const { examples, runs } = importedFiles(read);
  await checked(input, where, examples, 'locate' in given ? given.locate : undefined);
  if (textOption(input, 'runs') !== undefined) written('runs', String(input.options['runs']), runs);
  if (key === undefined) {
    const output = textOption(input, 'output');
    if (output === undefined) input.say(datasetText(examples, output));
    else written('output', output, examples);
  } else
    await withStore(input, { instead: 'Use POST /api/v1/datasets/NAME/examples.', mayMake: true }, async ({ store, config }) => {
      const redaction = configuredRedaction(config.redact, noTelemetry);
      const [by, at, note] = [authorOf(input), Date.now() * 1_000, textOption(input, 'note') ?? `import of ${where}`];
      const check = exampleChecker();
      const put = examples.map((one): DatasetExample => {
        const { example } = readExample(one, '', check);
        return redactedExample({ ...example, origin: { by, at, file: where, ...example.origin } }, redaction);
      });
      const outcome = await putExamples(store.datasets, key, { put, by, at, note });
      sayWritten(input, key, outcome);
      sayReplaced(input, key, outcome);
    });
  input.complain(
    `${examples.length} ${examples.length === 1 ? 'example' : 'examples'}, ${runs.length} recorded ${runs.length === 1 ? 'run' : 'runs'}${runs.length > 0 && input.options['runs'] === undefined ? ' (--runs FILE writes them)' : ''}`,
  );
  return 0;
}

function formatOf(name: string | undefined): SetFormat {
  const format = setFormats.find((one) => one.name === name);
  if (format === undefined) throw new UsageError(`--from takes one of ${setFormats.map((one) => one.name).join(', ')}.`);
  return format;
}

/** Checks that `eval` can read the output; entries of `evaluators` may name what the configuration has. */
async function checked(input: CommandInput, where: string, examples: readonly JsonObject[], locate: Locate | undefined): Promise<void> {
  const file = textOption(input, 'config');
  const { config, evaluators: members, shared } = await readConfig({ file, env: input.env, evaluators });
  const hasConfig = file !== undefined || input.options['to'] !== undefined;
  datasetOf(
    where,
    examples,
    { members, shared, plan: hasConfig ? config.evaluators : [], judges: hasConfig ? config.judges.map(({ name }) => name) : [] },
    locate,
  );
}

interface GivenSet {
  readonly value: JsonValue;
  readonly locate: Locate;
}

function ownText(where: string, text: string): GivenSet {
  const { value, locate } = locatedText(where, text);
  const inList = isJsonObject(value) ? ['examples'] : [];
  return { value, locate: (path, at) => locate([...inList, ...path], at) };
}

/** `eval` reads runs line by line from every file but a .json file, so no runs are written as YAML. */
function written(option: string, file: string, values: readonly JsonObject[]): void {
  writeOutput(option, file, datasetText(values, option === 'runs' ? file.replace(/\.ya?ml$/i, '') : file));
}

/** Writes YAML, JSON or JSON lines by the extension of the file. */
function datasetText(values: readonly JsonObject[], file: string | undefined): string {
  if (file !== undefined && /\.ya?ml$/i.test(file)) return stringify(values, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd();
  const lines = values.map((value) => jsonText(value));
  return file !== undefined && /\.json$/i.test(file) ? `[\n${lines.map((line) => `  ${line}`).join(',\n')}\n]` : lines.join('\n');
}
