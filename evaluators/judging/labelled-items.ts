/** One label that a judge gives each of several numbered things of a run: tool calls, documents, turns, blocks of code. */
import type { SpanId } from '../../src/model/ids.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { Outcome } from '../../src/model/verdict.ts';
import { verdictListSchema } from './numbered-verdicts.ts';
import { callDetails, partOf, skipped, type PlacedCall, type Skipped } from '../evidence/calls.ts';
import type { Answer, Question } from '../evaluator.ts';
import { judgeInputBlocks, truncatedDetail } from './judge-blocks.ts';
import { notAsked } from './judge-evidence.ts';
import { labelProperties, readLabelled, type LabelForm, type ScoredLabel } from './labels.ts';
import { mean, numberOf, rational } from '../matching/rational.ts';
import type { JudgeInput } from './judge-input.ts';
import { readEach, strictly } from './strict-answers.ts';
import { callName, count, listed, quoted, briefExplanation } from '../explain/explanation.ts';

export interface Item {
  /** From 1, and another one for each. The judge is shown the item under this number. */
  readonly number: number;
  readonly name: string;
  readonly placed?: PlacedCall;
  readonly spanId?: SpanId;
  readonly details: JsonObject;
}

export interface LabelOfItems extends LabelForm {
  readonly instruction: string;
  readonly input: readonly JudgeInput[];
  /** At least one. */
  readonly items: readonly Item[];
  /** What an item is, in the singular. */
  readonly what: string;
  /** Name of the list of verdicts, in the answer and in the details. */
  readonly list: string;
  /** share: the mean of their scores. worst: the lowest of them. */
  readonly scoredBy: 'share' | 'worst';
  /** What an item of a label is, where the label alone would not make a sentence. */
  readonly inWords?: { readonly [label: string]: string };
  readonly details?: JsonObject;
}

/** Things that a judge is asked about in one run: beyond, each would be shown as a few words. */
const itemsMax = 100;

/** The label of the run is the worst among its items. */
export function* labelledItems(about: LabelOfItems): Generator<Question, Outcome, Answer> {
  const large = tooMany(about);
  if (large !== undefined) return large;
  const wanted = { list: about.list, numbers: about.items.map(({ number }) => number), what: about.what };
  const { data, truncated } = judgeInputBlocks(about.input);
  const judged = yield* strictly(
    {
      id: 'judge',
      instruction: `${about.instruction} Judge the ${about.what}s with these numbers and no others, each in exactly one entry: ${wanted.numbers.join(', ')}.`,
      data,
      answerSchema: verdictListSchema(about.list, { number: { type: 'integer' }, ...labelProperties(about) }),
    },
    (answer) => readEach(answer, wanted, (entry, who) => readLabelled(entry, about, who)),
  );
  if (judged.kind === 'failed') return judged.outcome;
  const all = judged.value.flatMap((label, at): readonly JudgedItem[] => {
    const item = about.items[at];
    return item === undefined ? [] : [{ item, ...label }];
  });
  return verdict(about, all, truncated || judged.truncated);
}

export function callItems(calls: readonly PlacedCall[]): readonly Item[] {
  return calls.map((placed) => {
    const { spanId } = placed.call;
    return {
      number: placed.index + 1,
      name: callName(placed),
      placed,
      ...(spanId === undefined ? {} : { spanId }),
      details: callDetails(placed),
    };
  });
}

function tooMany({ items, what }: LabelOfItems): Skipped | undefined {
  return items.length <= itemsMax
    ? undefined
    : skipped('too_large', `${items.length} ${what}s are more than the ${itemsMax} that a judge is asked about in one run.`, {
        ...notAsked,
        items: items.length,
        items_max: itemsMax,
      });
}

interface JudgedItem extends ScoredLabel {
  readonly item: Item;
}

function verdict(about: LabelOfItems, judged: readonly JudgedItem[], truncated: boolean): Outcome {
  const bad = judged.filter(({ score }) => score < 1);
  const worst = judged.reduce((lowest, one) => (one.score < lowest.score ? one : lowest));
  const evidence = [...new Set(bad.flatMap(({ item }) => (item.spanId === undefined ? [] : [item.spanId])))];
  return {
    kind: 'scored',
    score: about.scoredBy === 'worst' ? worst.score : numberOf(mean(judged.map(({ score }) => rational(score)))),
    label: worst.label,
    explanation: explained(about, judged, bad),
    evidence,
    parts: judged.flatMap((one) =>
      one.item.placed === undefined
        ? []
        : [
            {
              ...partOf(one.item.placed, one.score === 1, `${one.item.name} is ${inWords(about, one.label)}: ${reason(one)}.`),
              score: one.score,
            },
          ],
    ),
    details: {
      judge_called: true,
      total: judged.length,
      full: judged.length - bad.length,
      [about.list]: judged.map((one) => itemDetails(one, about.faults)),
      ...about.details,
      ...truncatedDetail(truncated),
    },
  };
}

function explained(about: LabelOfItems, judged: readonly JudgedItem[], bad: readonly JudgedItem[]): string {
  const [first] = judged;
  if (bad.length === 0)
    return `${judged.length === 1 ? `The ${about.what} is` : `All ${judged.length} ${about.what}s are`} ${inWords(about, first?.label ?? '')}.`;
  const groups = [...Map.groupBy(bad, ({ label }) => label)].map(
    ([label, own]) =>
      `${own.length} of ${count(judged.length, about.what)} ${own.length === 1 ? 'is' : 'are'} ${inWords(about, label)}: ${listed(
        own.map((one) => `${one.item.name} (${reason(one)})`),
        '; ',
      )}`,
  );
  return `${groups.join('; ')}.`;
}

function inWords({ inWords: words }: LabelOfItems, label: string): string {
  return words !== undefined && Object.hasOwn(words, label) ? (words[label] ?? label) : label;
}

function reason({ faults, explanation }: JudgedItem): string {
  return `${faults.length === 0 ? '' : `${listed(faults.map(quoted))}: `}${briefExplanation(explanation)}`;
}

function itemDetails({ item, label, explanation, faults }: JudgedItem, name: string | undefined): JsonObject {
  return { ...item.details, label, explanation, ...(name === undefined ? {} : { [name]: faults }) };
}
