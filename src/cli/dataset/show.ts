/** `tracejury dataset list`, `show` and `diff`. */
import { stringify } from 'yaml';
import { type CommandInput, type ExitCode, reportFormat, textOption, textOptions, UsageError } from '../command.ts';
import { withStore } from '../open-store.ts';
import { oneLine } from '../../model/one-line.ts';
import { exampleJson } from '../../datasets/example-json.ts';
import type { DatasetExample } from '../../model/example.ts';
import { contentDigest } from '../../model/example-fingerprint.ts';
import { tenant } from '../../model/ids.ts';
import { type JsonObject, jsonText, plainText } from '../../model/json.ts';
import type { ExampleRevision, StoredDataset } from '../../model/store/dataset-store.ts';
import { timeText } from '../../model/timestamp.ts';
import { referenceOf, unknownDataset, wholeDataset } from './stored-dataset.ts';
import { present } from '../../model/present.ts';

const instead = 'Ask the console: /api/v1/datasets.';
const inputChars = 60;
/** The longest id of an example: a cut one would be of no use to `dataset review`. */
const idChars = 200;
const byChars = 40;
const historyMax = 100;
const versionsShown = 10;
const examplesShownDefault = 20;
const examplesShownMax = 100_000;

export async function list(input: CommandInput): Promise<ExitCode> {
  const format = reportFormat(input);
  return await withStore<ExitCode>(input, { instead }, async ({ store }) => {
    const of = textOption(input, 'tenant');
    const all = await store.datasets.list(of === undefined ? undefined : tenant(of));
    if (format === 'json') for (const one of all) input.say(jsonText(datasetJson(one)));
    else for (const line of table(all.map(datasetCells))) input.say(line);
    if (all.length === 0) input.complain('The store has no dataset yet.');
    return 0;
  });
}

function datasetCells({ tenant: of, name, version, examples, drafts, changedAt }: StoredDataset): readonly string[] {
  const count = `${examples} ${examples === 1 ? 'example' : 'examples'}`;
  return [
    `${name}@${version}`,
    drafts === 0 ? count : `${count}, ${drafts} ${drafts === 1 ? 'draft' : 'drafts'}`,
    `changed ${micros(changedAt)}`,
    ...(of === '' ? [] : [`tenant ${of}`]),
  ];
}

function datasetJson({ tenant: of, name, version, examples, drafts, createdAt, changedAt }: StoredDataset): JsonObject {
  return { tenant: of, name, version, examples, drafts, created_at: micros(createdAt), changed_at: micros(changedAt) };
}

export async function show(input: CommandInput, named: string | undefined): Promise<ExitCode> {
  const reference = referenceOf(input, named);
  const format = reportFormat(input);
  const limit = textOption(input, 'limit') ?? String(examplesShownDefault);
  if (!/^\d{1,6}$/.test(limit) || Number(limit) < 1 || Number(limit) > examplesShownMax)
    throw new UsageError(`--limit takes a number from 1 to ${examplesShownMax}.`);
  return await withStore<ExitCode>(input, { instead }, async ({ store: { datasets } }) => {
    const { key, version } = reference;
    const id = textOptions(input, 'example')[0];
    const dataset = await datasets.dataset(key);
    if (dataset === undefined) throw await unknownDataset(datasets, key);
    if (id !== undefined) {
      const found = await datasets.example(key, version, id);
      if (found === undefined) throw new UsageError(`${named} has no example ${JSON.stringify(id)}.`);
      const history = await datasets.history(key, id, historyMax);
      input.say(
        format === 'json'
          ? jsonText({ ...exampleJson(found.example), history: history.map(revisionJson) })
          : exampleText(found.example, history),
      );
      return 0;
    }
    const { split, tag } = { split: textOption(input, 'split'), tag: textOptions(input, 'tag')[0] };
    const whole = await wholeDataset(datasets, reference, present({ split, tag }));
    const shown = whole.examples.slice(0, Number(limit));
    if (format === 'json') for (const one of shown) input.say(jsonText(exampleJson(one)));
    else {
      for (const one of await datasets.versions(key, { limit: versionsShown, before: whole.version + 1 }))
        input.say(
          `${key.name}@${one.version}  ${micros(one.at)}  ${changeWords(one)} by ${oneLine(one.by, byChars)}${one.note === undefined ? '' : `: ${oneLine(one.note, inputChars)}`}`,
        );
      input.say('');
      for (const line of table(shown.map(exampleCells))) input.say(line);
    }
    if (shown.length < whole.examples.length) input.complain(`${whole.examples.length - shown.length} more; --limit shows them.`);
    return 0;
  });
}

function exampleCells({ id, input, expect = {}, tags = [], split, review }: DatasetExample): readonly string[] {
  const marks = [...(split === undefined ? [] : [split]), ...tags, ...(review === 'draft' ? ['draft'] : [])];
  const expected = Object.keys(expect).join(', ');
  return [
    oneLine(id, idChars),
    oneLine(plainText(input), inputChars),
    expected === '' ? 'nothing expected' : expected,
    oneLine(marks.join(' '), inputChars),
  ];
}

function exampleText(example: DatasetExample, history: readonly ExampleRevision[]): string {
  const body = stringify(JSON.parse(jsonText(exampleJson(example))), { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd();
  return [
    body,
    '',
    ...history.map(
      ({ from, until, example: { review = 'reviewed' } }) =>
        `# version ${from.version}${until === undefined ? ' to now' : ` to ${until - 1}`}: ${micros(from.at)} by ${oneLine(from.by, byChars)}, ${review}`,
    ),
  ].join('\n');
}

function revisionJson({ from, until, example }: ExampleRevision): JsonObject {
  return {
    from: from.version,
    until: until ?? null,
    at: micros(from.at),
    by: from.by,
    note: from.note ?? null,
    example: exampleJson(example),
  };
}

/** Compares two versions of one dataset, or of two, by the ids of examples. The exit code is 0 even if they differ. */
export async function diff(input: CommandInput, from: string | undefined, to: string | undefined): Promise<ExitCode> {
  const [before, after] = [referenceOf(input, from), referenceOf(input, to)];
  const format = reportFormat(input);
  return await withStore<ExitCode>(input, { instead }, async ({ store: { datasets } }) => {
    const [old, young] = [await wholeDataset(datasets, before), await wholeDataset(datasets, after)];
    const byId = new Map(old.examples.map((one) => [one.id, one]));
    const ids = new Set(young.examples.map(({ id }) => id));
    const changes = [
      ...old.examples.flatMap((one) => (ids.has(one.id) ? [] : [{ id: one.id, before: one, after: undefined }])),
      ...young.examples.flatMap((one) => {
        const was = byId.get(one.id);
        return was !== undefined && contentDigest(was) === contentDigest(one) ? [] : [{ id: one.id, before: was, after: one }];
      }),
    ];
    if (format === 'json')
      for (const one of changes)
        input.say(
          jsonText({
            id: one.id,
            before: one.before === undefined ? null : exampleJson(one.before),
            after: one.after === undefined ? null : exampleJson(one.after),
          }),
        );
    else {
      const count = (kind: string): number => changes.filter((one) => kindOf(one) === kind).length;
      input.say(
        `${before.key.name}@${old.version} → ${after.key.name}@${young.version}: ${count('+')} added, ${count('~')} changed, ${count('-')} removed`,
      );
      for (const one of changes) input.say(differenceText(one));
    }
    return 0;
  });
}

interface Difference {
  readonly id: string;
  readonly before: DatasetExample | undefined;
  readonly after: DatasetExample | undefined;
}

function kindOf({ before, after }: Difference): '+' | '-' | '~' {
  return before === undefined ? '+' : after === undefined ? '-' : '~';
}

function differenceText(difference: Difference): string {
  const { id, before, after } = difference;
  const kind = kindOf(difference);
  if (before === undefined || after === undefined)
    return `${kind} ${oneLine(id, idChars)}  ${oneLine(plainText((after ?? before)?.input ?? null), inputChars)}`;
  const { origin: _before, ...was } = exampleJson(before);
  const { origin: _after, ...is } = exampleJson(after);
  const keys = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(
    (key) => jsonText(was[key] ?? null, { sortKeys: true }) !== jsonText(is[key] ?? null, { sortKeys: true }),
  );
  return [
    `${kind} ${oneLine(id, idChars)}`,
    ...keys.flatMap((key) => [`    ${key}:`, ...sideText('-', was[key]), ...sideText('+', is[key])]),
  ].join('\n');
}

const sideChars = 400;

function sideText(sign: string, value: JsonObject[string] | undefined): readonly string[] {
  return value === undefined ? [] : [`    ${sign} ${oneLine(plainText(value), sideChars)}`];
}

function changeWords({ added, changed, removed }: { readonly added: number; readonly changed: number; readonly removed: number }): string {
  return `+${added} ~${changed} -${removed}`;
}

function micros(at: number): string {
  return timeText(BigInt(at) * 1_000n);
}

/** Aligned columns. */
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => [...(row[at] ?? '')].length)));
  return rows.map((row) =>
    row
      .map((cell, at) => cell + ' '.repeat(Math.max(0, (widths[at] ?? 0) - [...cell].length)))
      .join('  ')
      .trimEnd(),
  );
}
