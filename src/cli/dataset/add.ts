/** `tracejury dataset add`: makes examples of stored runs. */
import { type CommandInput, type ExitCode, textOption, textOptions, UsageError } from '../command.ts';
import { withStore } from '../open-store.ts';
import { addedRunsFault } from '../common-options.ts';
import { issueFilter, issueOption, parseRunFilter, parseTime } from '../run-filter.ts';
import { textsPerRequest } from '../../judges/client/embedder.ts';
import { examplesOfRuns } from '../../datasets/stored-runs.ts';
import type { NoExampleReason } from '../../datasets/run-example.ts';
import type { RunKey } from '../../model/agent-trace.ts';
import { chunks } from '../../model/chunks.ts';
import { inputFingerprint } from '../../model/example-fingerprint.ts';
import type { DatasetExample } from '../../model/example.ts';
import { parseSpanId, parseTraceId, type Tenant } from '../../model/ids.ts';
import type { DatasetKey } from '../../model/store/dataset-store.ts';
import type { RunFilter, RunPlace, Store } from '../../model/store/store.ts';
import { mayBeRedacted } from '../../redaction/settings.ts';
import { EmbeddingFailed, type InputComparison, nearChoice, withComparison } from './embedded-inputs.ts';
import { authorOf, nameOf, putExamples, sayReplaced, sayWritten } from './stored-dataset.ts';

const limitDefault = 50;
export const addLimitMax = 10_000;
/** Runs of one trace that `--run TRACE` takes. */
const runsOfTraceMax = 200;
const pageMax = 200;
/** Runs that are read for one example, as `--distinct` leaves many out. */
const readPerExample = 20;

const reasonTexts: { readonly [reason in NoExampleReason]: string } = {
  not_stored: 'the store has no such run',
  no_content: 'the store has no texts of it (store.content, store.keep)',
  no_input: 'its spans carry no input',
  part_of_another_run: 'it is part of another run',
};

export async function add(input: CommandInput, name: string | undefined): Promise<ExitCode> {
  const key = nameOf(input, name);
  const named = textOptions(input, 'run').map(runNamed);
  const where = textOption(input, 'where');
  const issue = issueOption(input);
  if ((named.length === 0) === (where === undefined && issue === undefined)) throw new UsageError(addedRunsFault);
  const filter =
    named.length > 0 ? undefined : whereOf(input, issueFilter(issue, where === undefined ? {} : parseRunFilter([where])), key.tenant);
  const limit = limitOf(input);
  const near = nearChoice(input);
  return await withStore<ExitCode>(
    input,
    { instead: 'Add runs in the console, or with POST /api/v1/datasets/NAME/examples.' },
    async ({ store, config }) => {
      const at = Date.now() * 1_000;
      const by = authorOf(input);
      const split = textOption(input, 'split');
      const options = { origin: { by, at }, tags: textOptions(input, 'tag'), split, isRedacted: mayBeRedacted(config.redact) };
      const isDistinct = input.options['distinct'] === true;
      const take = async (comparison: InputComparison | undefined): Promise<Taken> => {
        const present = isDistinct ? await presentInputs(store, key, comparison) : new Set<string>();
        const found = await (filter === undefined
          ? takeNamed(store, key, named, options)
          : takeMatching(store, filter, { limit, isDistinct, present, comparison, options }));
        if (comparison === undefined || filter !== undefined) return found;
        const examples = await comparison.distinct(found.examples, found.examples.length);
        return { ...found, examples, repeated: found.examples.length - examples.length };
      };
      const taken = await (near === undefined
        ? take(undefined)
        : withComparison(near, { config, store }, async (comparison) => {
            const found = await take(comparison);
            for (const note of comparison.notes()) input.complain(note);
            return found;
          }).catch((error: unknown) => {
            if (!(error instanceof EmbeddingFailed)) throw error;
            input.complain(
              `The judge ${near.judge} gave no embeddings (${error.message}), so nothing was added. Without --embeddings only the texts are compared.`,
            );
            return undefined;
          }));
      if (taken === undefined) return 1;
      for (const [reason, left] of Map.groupBy(taken.leftOut, (one) => one.reason))
        input.complain(`no example of ${left.length} ${left.length === 1 ? 'run' : 'runs'}: ${reasonTexts[reason]}`);
      if (taken.examples.length === 0) {
        input.complain(nothingText(taken, filter !== undefined));
        return 1;
      }
      const note = textOption(input, 'note');
      const written = await putExamples(store.datasets, key, {
        put: taken.examples,
        by,
        at,
        isDistinct,
        replaces: input.options['replace'] === true ? 'all' : 'drafts',
        ...(note === undefined ? {} : { note }),
      });
      sayWritten(input, key, written);
      sayReplaced(input, key, written);
      if (written.added + written.changed > 0)
        input.complain('Their expectations repeat what the runs did: they are drafts until someone has reviewed them.');
      return 0;
    },
  );
}

interface Taken {
  readonly examples: readonly DatasetExample[];
  readonly leftOut: Awaited<ReturnType<typeof examplesOfRuns>>['leftOut'];
  /** Runs whose input another example has. */
  readonly repeated: number;
}

function nothingText({ leftOut, repeated }: Taken, isChosen: boolean): string {
  if (repeated > 0)
    return `Nothing was added: ${repeated === 1 ? 'the input of 1 run repeats' : `the inputs of ${repeated} runs repeat`} examples of the dataset.`;
  return isChosen && leftOut.length === 0 ? 'No stored run matches.' : 'No run makes an example.';
}

type TakeOptions = Parameters<typeof examplesOfRuns>[2];

function runNamed(text: string): { readonly traceId: RunKey['traceId']; readonly spanId: RunKey['spanId'] | undefined } {
  const [trace = '', span, ...more] = text.split('/');
  const [traceId, spanId] = [parseTraceId(trace), parseSpanId(span ?? '')];
  if (traceId === undefined || (span !== undefined && spanId === undefined) || more.length > 0)
    throw new UsageError('--run takes a trace id of 32 hexadecimal digits, or TRACE_ID/SPAN_ID with a span id of 16.');
  return { traceId, spanId };
}

function whereOf(input: CommandInput, filter: RunFilter, tenant: Tenant): RunFilter {
  const since = textOption(input, 'since');
  return { tenant, ...filter, ...(since === undefined ? {} : { from: parseTime(since, 'since', Date.now()) }) };
}

function limitOf(input: CommandInput): number {
  const limit = textOption(input, 'limit') ?? String(limitDefault);
  if (!/^\d{1,5}$/.test(limit) || Number(limit) < 1 || Number(limit) > addLimitMax)
    throw new UsageError(`--limit takes a number from 1 to ${addLimitMax}.`);
  return Number(limit);
}

/** A trace without a span means its outermost run, which started first. */
async function takeNamed(
  store: Store,
  { tenant }: DatasetKey,
  named: readonly ReturnType<typeof runNamed>[],
  options: TakeOptions,
): Promise<Taken> {
  const keys: RunKey[] = [];
  for (const { traceId, spanId } of named) {
    if (spanId !== undefined) keys.push({ tenant, traceId, spanId });
    else {
      const { runs } = await store.runs({ tenant, traceId, limit: runsOfTraceMax });
      const first = runs.at(-1);
      if (first === undefined)
        throw new UsageError(`The store has no run of the trace ${traceId}${tenant === '' ? '' : ` of the tenant ${tenant}`}.`);
      keys.push(first);
    }
  }
  return { ...(await examplesOfRuns(store, keys, options)), repeated: 0 };
}

interface Matching {
  readonly limit: number;
  readonly isDistinct: boolean;
  /** Fingerprints of inputs that the dataset has. */
  readonly present: ReadonlySet<string>;
  readonly comparison: InputComparison | undefined;
  readonly options: TakeOptions;
}

/** Newest first, until `limit` examples are found. */
async function takeMatching(store: Store, filter: RunFilter, matching: Matching): Promise<Taken> {
  const { limit, isDistinct, present, comparison, options } = matching;
  const examples: DatasetExample[] = [];
  const leftOut: Taken['leftOut'][number][] = [];
  let repeated = 0;
  const seen = new Set(present);
  const isNew = ({ input }: DatasetExample): boolean => !isDistinct || seen.size < seen.add(inputFingerprint(input)).size;
  let after: RunPlace | undefined;
  let left = limit * readPerExample;
  do {
    const page = await store.runs({ ...filter, limit: Math.min(pageMax, left), ...(after === undefined ? {} : { after }) });
    left -= page.runs.length;
    for (const runs of chunks(page.runs, comparison === undefined ? 1 : textsPerRequest)) {
      if (examples.length === limit || comparison?.isFull() === true) break;
      const made = await examplesOfRuns(store, runs, options);
      leftOut.push(...made.leftOut);
      const fresh = made.examples.filter(isNew);
      const distinct = comparison === undefined ? fresh : await comparison.distinct(fresh, limit - examples.length);
      repeated += made.examples.length - distinct.length;
      examples.push(...distinct);
    }
    after = page.next;
  } while (after !== undefined && examples.length < limit && left > 0 && comparison?.isFull() !== true);
  return { examples, leftOut, repeated };
}

/** Page by page, as the examples of a dataset may be many and large. */
async function presentInputs({ datasets }: Store, key: DatasetKey, comparison: InputComparison | undefined): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  let after: number | undefined;
  do {
    const page = await datasets.examples(key, undefined, { limit: pageMax, ...(after === undefined ? {} : { after }) });
    const examples = page?.examples.map(({ example }) => example) ?? [];
    for (const { input } of examples) found.add(inputFingerprint(input));
    await comparison?.present(examples);
    after = page?.next;
  } while (after !== undefined);
  return found;
}
