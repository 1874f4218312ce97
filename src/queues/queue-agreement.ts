/** How far people agree on the items of a queue, question by question. It reads items with two answers or more. */
import { member } from '../model/json.ts';
import type { AnsweredItem } from '../model/store/queue-store.ts';
import { type RaterAgreement, raterAgreement } from '../statistics/cohen-kappa.ts';
import type { NotEstimable } from '../statistics/estimate.ts';
import { fleissKappa, type FleissKappa } from '../statistics/fleiss-kappa.ts';
import type { QueueQuestion } from './question.ts';

/** Limit of items that one question about agreement reads. */
export const agreementItemsMax = 20_000;

export interface QuestionAgreement {
  readonly name: string;
  readonly kind: 'evaluator' | 'label' | 'score';
  /** Items with two answers or more to the question. */
  readonly items: number;
  readonly answers: number;
  readonly people: number;
  /** Mean over the items of the share of pairs of people with the same answer; `undefined` without an item. */
  readonly share: number | undefined;
  /** Agreement of all people, only for labels. */
  readonly fleiss: FleissKappa | NotEstimable | undefined;
  /** Agreement of each pair of people, only for labels. */
  readonly cohen: RaterAgreement | undefined;
  /** Mean over the items of the absolute difference within pairs of people, in units of the question; only for scores. */
  readonly difference: number | undefined;
}

interface GivenValue {
  readonly person: string;
  readonly item: string;
  readonly value: string | number;
}

/** Texts have no agreement. */
export function queueAgreement(questions: readonly QueueQuestion[], items: readonly AnsweredItem[]): readonly QuestionAgreement[] {
  return questions.flatMap((question): readonly QuestionAgreement[] => {
    if (question.kind === 'text') return [];
    const compared = items
      .map(({ item, answers }) =>
        answers.flatMap(({ person, values }): readonly GivenValue[] => {
          const value = member(values, question.name);
          return typeof value === 'string' || typeof value === 'number' ? [{ person, item: String(item), value }] : [];
        }),
      )
      .filter(({ length }) => length > 1);
    const isScore = question.kind === 'score';
    const labels = compared.flat().map(({ person, item, value }) => ({ person, item, label: String(value) }));
    return [
      {
        name: question.name,
        kind: question.kind,
        items: compared.length,
        answers: labels.length,
        people: new Set(labels.map(({ person }) => person)).size,
        share: meanOfPairs(compared, (one, other) => (one === other ? 1 : 0)),
        fleiss: isScore ? undefined : fleissKappa(compared.map((own) => own.map(({ value }) => String(value)))),
        cohen: isScore ? undefined : raterAgreement(labels),
        difference: isScore ? meanOfPairs(compared, (one, other) => Math.abs(Number(one) - Number(other))) : undefined,
      },
    ];
  });
}

function meanOfPairs(
  items: readonly (readonly GivenValue[])[],
  of: (one: GivenValue['value'], other: GivenValue['value']) => number,
): number | undefined {
  if (items.length === 0) return undefined;
  const means = items.map((own) => {
    const pairs = own.flatMap(({ value }, at) => own.slice(at + 1).map((other) => of(value, other.value)));
    return pairs.reduce((all, one) => all + one, 0) / pairs.length;
  });
  return means.reduce((all, one) => all + one, 0) / means.length;
}
