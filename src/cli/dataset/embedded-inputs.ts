/** `tracejury dataset add --distinct --embeddings JUDGE`: compares inputs of examples by the vectors of an embedding model. */
import { readVectors } from '../../../evaluators/matching/vectors.ts';
import { type CommandInput, numberOption, textOption, UsageError } from '../command.ts';
import type { Config } from '../../config/config.ts';
import { configuredRedaction } from '../../config/entries/redaction.ts';
import { type Direction, directionOf, knownInputs, type Nearest } from '../../datasets/near-duplicates.ts';
import { didYouMean } from '../../model/did-you-mean.ts';
import type { DatasetExample } from '../../model/example.ts';
import { jsonText, type JsonValue } from '../../model/json.ts';
import type { Store } from '../../model/store/store.ts';
import { judgePool, type JudgePool, noBatches } from '../../service/judge-pool.ts';
import { noTelemetry } from '../../telemetry/telemetry.ts';

/** Least cosine at which two inputs count as the same. Nearness depends on the model, so the default is strict. */
export const similarityDefault = 0.95;
/** Longer inputs exceed what common models read. */
const embeddedCharsMax = 16_000;
/** Texts of one command: those of the dataset and those of runs. */
const textsMax = 5_000;
/** Examples of the dataset that runs are compared with. */
const presentMax = 2_000;
/** Texts of one call, sixteen a request. */
const textsPerCall = 160;
const stopMs = 1_000;

/** The judge could not embed the inputs, so nothing is known about near duplicates. */
export class EmbeddingFailed extends Error {}

export interface NearChoice {
  readonly judge: string;
  readonly similarity: number;
}

/** `undefined` without --embeddings. Throws a UsageError. */
export function nearChoice(input: CommandInput): NearChoice | undefined {
  const judge = textOption(input, 'embeddings');
  const similarity = numberOption(input, 'similarity', 1);
  if (judge === undefined) {
    if (similarity !== undefined) throw new UsageError('--similarity goes with --embeddings JUDGE.');
    return undefined;
  }
  if (input.options['distinct'] !== true) throw new UsageError('--embeddings goes with --distinct.');
  if (similarity === 0) throw new UsageError('--similarity takes a number above 0, up to 1.');
  return { judge, similarity: similarity ?? similarityDefault };
}

export interface InputComparison {
  /** Examples of the dataset, page by page. The first `presentMax` are compared with. */
  present(examples: readonly DatasetExample[]): Promise<void>;
  /** In their order, those whose input is near none that is known, at most `most`. They are known from now on. */
  distinct(examples: readonly DatasetExample[], most: number): Promise<readonly DatasetExample[]>;
  /** True when no further text is embedded. */
  isFull(): boolean;
  /** Sentences on what was left out, and what was not compared. */
  notes(): readonly string[];
}

/** Throws a UsageError when the configuration has no such judge. */
export async function withComparison<Result>(
  { judge: name, similarity }: NearChoice,
  { config, store }: { readonly config: Config; readonly store: Pick<Store, 'judgeSpend' | 'judgeAnswers'> },
  use: (comparison: InputComparison) => Promise<Result>,
): Promise<Result> {
  const names = config.judges.map((judge) => judge.name);
  if (!names.includes(name)) {
    const guess = didYouMean(name, names);
    const hint = guess !== undefined ? `Did you mean ${guess}?` : names.length === 0 ? 'It has no judge.' : `It has ${names.join(', ')}.`;
    throw new UsageError(`The configuration has no judge ${name}. ${hint} Its model must be one of embeddings.`);
  }
  const pool = judgePool(
    config.judges.filter((judge) => judge.name === name),
    noTelemetry,
  );
  const redaction = configuredRedaction(config.redact, noTelemetry);
  try {
    // The budget of the judge is that of the service.
    await pool.open({ judgeSpend: store.judgeSpend, judgeAnswers: store.judgeAnswers, judgeBatches: noBatches }, () => false);
    return await use(inputComparison({ pool, name, similarity, text: (given) => redaction?.text(given) ?? given }));
  } finally {
    await pool.settle().catch(() => undefined);
    await pool.executor.stop(stopMs);
    await pool.stop();
  }
}

interface ComparisonOptions extends Pick<NearChoice, 'similarity'> {
  readonly pool: Pick<JudgePool, 'embed'>;
  readonly name: string;
  readonly text: (given: string) => string;
}

export function inputComparison({ pool, name, similarity, text }: ComparisonOptions): InputComparison {
  const known = knownInputs();
  let [texts, present, presentLeft, near, unread] = [0, 0, 0, 0, 0];
  let nearestKept: Nearest | undefined;

  /** `undefined` of an example whose input is not embedded. */
  async function directions(examples: readonly DatasetExample[]): Promise<readonly (Direction | undefined)[]> {
    const wanted = examples.map(({ input }) => embeddedText(input, text));
    const some = wanted.filter((one) => one !== undefined);
    unread += wanted.length - some.length;
    texts += some.length;
    const found: (Direction | undefined)[] = [];
    for (let at = 0; at < some.length; at += textsPerCall) {
      const part = some.slice(at, at + textsPerCall);
      const answer = await pool.embed(name, part);
      if (answer.kind === 'failed') throw new EmbeddingFailed(answer.error);
      const read = readVectors(answer.value, part.length);
      if (read.kind === 'faulty') throw new EmbeddingFailed(`judge_answer_invalid: ${read.fault}`);
      found.push(...read.vectors.map(directionOf));
    }
    let next = 0;
    return wanted.map((one) => (one === undefined ? undefined : found[next++]));
  }

  return {
    async present(examples) {
      const some = examples.slice(0, presentMax - present);
      present += some.length;
      presentLeft += examples.length - some.length;
      for (const [at, direction] of (await directions(some)).entries())
        if (direction !== undefined) known.add(some[at]?.id ?? '', direction);
    },
    async distinct(examples, most) {
      const all = await directions(examples);
      const kept: DatasetExample[] = [];
      for (const [at, example] of examples.entries()) {
        if (kept.length === most) break;
        const direction = all[at];
        const nearest = direction === undefined ? undefined : known.nearest(example.id, direction);
        if (nearest !== undefined && nearest.similarity >= similarity) {
          near++;
          continue;
        }
        if (nearest !== undefined && nearest.similarity > (nearestKept?.similarity ?? -1)) nearestKept = nearest;
        if (direction !== undefined) known.add(example.id, direction);
        kept.push(example);
      }
      return kept;
    },
    isFull: () => texts >= textsMax,
    notes: () => [
      ...(near === 0 ? [] : [`left out ${near}: the input is near that of another example (similarity of at least ${similarity})`]),
      ...(nearestKept === undefined
        ? []
        : [`the nearest input that was not left out has the similarity ${nearestKept.similarity.toFixed(3)}`]),
      ...(unread === 0
        ? []
        : [
            `${unread} ${unread === 1 ? 'input was' : 'inputs were'} compared only by text: blank, or longer than ${embeddedCharsMax} characters`,
          ]),
      ...(presentLeft === 0
        ? []
        : [`${presentLeft} examples of the dataset were compared only by text: --embeddings takes ${presentMax} of them`]),
      ...(texts < textsMax ? [] : [`stopped after ${texts} texts were embedded; a narrower --where or a smaller --limit takes less`]),
    ],
  };
}

function embeddedText(input: JsonValue, text: (given: string) => string): string | undefined {
  const whole = typeof input === 'string' ? input : jsonText(input);
  if (whole.length > embeddedCharsMax || whole.trim() === '') return undefined;
  const leaving = text(whole);
  return leaving.trim() === '' ? undefined : leaving;
}
