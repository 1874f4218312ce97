/** `tracejury dataset split`, `review` and `remove`. */
import { type CommandInput, type ExitCode, textOption, textOptions, UsageError } from '../command.ts';
import { withStore } from '../open-store.ts';
import { partOf, type SplitPart } from '../../datasets/split.ts';
import { authorOf, nameOf, putExamples, referenceOf, sayWritten, unknownDataset, wholeDataset, writtenOr } from './stored-dataset.ts';

const instead = 'Use PUT and DELETE /api/v1/datasets.';
const partsMax = 20;
/** Decimal fractions such as 0.7, 0.2 and 0.1 do not add up to 1 exactly. */
const shareTolerance = 1e-9;

/** Keeps the part of an example that has one, unless `--again` divides all of them. */
export async function split(input: CommandInput, name: string | undefined): Promise<ExitCode> {
  const key = nameOf(input, name);
  const parts = partsOf(textOption(input, 'parts'));
  const again = input.options['again'] === true;
  return await withStore<ExitCode>(input, { instead }, async ({ store: { datasets } }) => {
    const { version, examples } = await wholeDataset(datasets, { key, version: undefined });
    const put = examples.flatMap((one) => {
      if (one.split !== undefined && !again) return [];
      return [{ ...one, split: partOf(one, parts, textOption(input, 'seed') ?? key.name) }];
    });
    const change = { by: authorOf(input), at: Date.now() * 1_000, note: `split ${textOption(input, 'parts')}` };
    if (put.length > 0) sayWritten(input, key, await putExamples(datasets, key, { ...change, put }));
    else input.say(`${key.name}@${version}: every example has a part; --again divides all of them`);
    const { examples: after } = await wholeDataset(datasets, { key, version: undefined });
    for (const [part, of] of Map.groupBy(after, (one) => one.split)) input.say(`${part ?? 'without a part'}: ${of.length}`);
    return 0;
  });
}

function partsOf(text: string | undefined): readonly SplitPart[] {
  const parts = (text ?? '').split(',').flatMap((part) => {
    const [, name, share] = /^([A-Za-z0-9._-]{1,100})=(0?\.\d{1,9}|1)$/.exec(part.trim()) ?? [];
    return name === undefined ? [] : [{ name, share: Number(share) }];
  });
  const sum = parts.reduce((total, { share }) => total + share, 0);
  const names = new Set(parts.map(({ name }) => name));
  if (
    parts.length === 0 ||
    parts.length > partsMax ||
    parts.length !== text?.split(',').length ||
    names.size < parts.length ||
    Math.abs(sum - 1) > shareTolerance
  )
    throw new UsageError('--parts takes names with shares that add up to 1, as in train=0.8,test=0.2.');
  return parts;
}

/** Marks drafts as reviewed. Exits with 1 when an example is not there. */
export async function review(input: CommandInput, name: string | undefined, ids: readonly string[]): Promise<ExitCode> {
  const { key, version: named } = referenceOf(input, name);
  const all = input.options['all'] === true;
  if (ids.length > 0 === all) throw new UsageError('Name the examples that a person has read, or mark all drafts with --all.');
  return await withStore<ExitCode>(input, { instead }, async ({ store: { datasets } }) => {
    const { version, examples } = await wholeDataset(datasets, { key, version: undefined });
    if (named !== undefined && named !== version)
      throw new UsageError(`A review makes the next version, and the newest one is ${key.name}@${version}.`);
    const present = new Set(examples.map(({ id }) => id));
    const missing = ids.filter((id) => !present.has(id));
    for (const id of missing) input.complain(`${key.name}@${version} has no example ${JSON.stringify(id)}.`);
    const chosen = new Set(ids);
    const put = examples
      .filter((one) => one.review === 'draft' && (all || chosen.has(one.id)))
      .map(({ review: _draft, ...reviewed }) => reviewed);
    const note = textOption(input, 'note');
    const change = { by: authorOf(input), at: Date.now() * 1_000, note: note ?? 'reviewed' };
    if (put.length > 0) sayWritten(input, key, await putExamples(datasets, key, { ...change, put }));
    else input.say(`${key.name}@${version}: nothing changed: ${all ? 'no example' : 'none of these'} is a draft`);
    return missing.length > 0 ? 1 : 0;
  });
}

export async function remove(input: CommandInput, name: string | undefined): Promise<ExitCode> {
  const key = nameOf(input, name);
  const ids = textOptions(input, 'example');
  const all = input.options['all'] === true;
  if (ids.length > 0 === all)
    throw new UsageError('Name examples with --example ID, or delete the dataset with all its versions with --all.');
  return await withStore<ExitCode>(input, { instead }, async ({ store: { datasets } }) => {
    if (all) {
      if (!(await datasets.delete(key))) throw await unknownDataset(datasets, key);
      input.say(`${key.name}: deleted with all its versions`);
      return 0;
    }
    if ((await datasets.dataset(key)) === undefined) throw await unknownDataset(datasets, key);
    const note = textOption(input, 'note');
    const change = { remove: ids, by: authorOf(input), at: Date.now() * 1_000, ...(note === undefined ? {} : { note }) };
    const written = writtenOr(await datasets.change(key, change), key);
    sayWritten(input, key, written);
    return written.removed === 0 ? 1 : 0;
  });
}
