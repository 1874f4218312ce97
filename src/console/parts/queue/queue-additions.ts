/** Message of the page after runs were put into a queue. */
import { runsText } from '../run-requests.ts';

/** The API's answer to one request. */
export interface QueueAddition {
  readonly items: readonly { readonly outcome: string }[];
}

/** By outcome of the API, in the order in which a person reads them. */
const outcomes: readonly (readonly [outcome: string, text: (runs: string, isOne: boolean) => string])[] = [
  ['added', (runs, isOne) => `${runs} ${isOne ? 'is' : 'are'} added.`],
  ['reopened', (runs, isOne) => `${runs} ${isOne ? 'is' : 'are'} opened again: the item was skipped, or its time had passed.`],
  ['known', (runs, isOne) => `${runs} ${isOne ? 'is' : 'are'} in the queue already.`],
  ['full', (runs) => `${runs} left out: the queue is full.`],
  ['not_stored', (runs) => `${runs} left out: the run is not stored any more.`],
];
const known: ReadonlySet<string> = new Set(outcomes.map(([outcome]) => outcome));

/** One sentence for each outcome; what was added comes first. */
export function queueAdditionTexts(additions: readonly QueueAddition[]): readonly string[] {
  const counts = Map.groupBy(
    additions.flatMap(({ items }) => items),
    ({ outcome }) => outcome,
  );
  const others = [...counts.keys()].filter((outcome) => !known.has(outcome));
  return [
    ...outcomes.flatMap(([outcome, text]) => {
      const count = counts.get(outcome)?.length ?? 0;
      return count === 0 ? [] : [text(runsText(count), count === 1)];
    }),
    ...others.map((outcome) => `${runsText(counts.get(outcome)?.length ?? 0)} left out: ${outcome.replaceAll('_', ' ')}.`),
  ];
}
