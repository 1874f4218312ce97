import { queueItemsMax, queuePeopleMax } from '../../model/store/queue-store.ts';
import { questionsMax, questionValuesMax } from '../../queues/question.ts';
import { queueOrders } from '../../queues/queue-settings.ts';
import { duration, flag, integer, list, number, object, oneOf, share, text, type ValueOf } from '../field.ts';
import { runRule } from './section.ts';

/** Each scored run is tested with each rule. */
const queuesMax = 100;
/** The range of a score that the file gives none. */
export const scoreDefaults = { min: 0, max: 1 } as const;
const nameCharsMax = 200;

const named = (description: string) => text({ minLength: 1, maxLength: nameCharsMax }, description);
const bound = (description: string) => number({ minimum: -1_000_000, maximum: 1_000_000 }, description);

const question = object(
  {},
  {
    evaluator: named('Asks whether the run should pass this evaluator: `pass` or `fail`.'),
    label: named('Asks for one of `values`, as an annotation of this name.'),
    values: list(
      { minItems: 2, maxItems: questionValuesMax, uniqueItems: true },
      named('A label.'),
      'Labels to choose from, only for `label`. Keys 1 to 9 choose them in the console.',
    ),
    score: named('Asks for a number, as an annotation of this name. It is stored as a score from 0 to 1.'),
    min: bound(`Lowest number of a \`score\`; ${scoreDefaults.min} when left out.`),
    max: bound(`Highest number of a \`score\`; ${scoreDefaults.max} when left out.`),
    text: named('Asks for a text, as an annotation of this name. A person may leave it out.'),
  },
);
export type WrittenQuestion = ValueOf<typeof question>;

const queue = object(
  { required: ['name', 'ask'] },
  {
    ...runRule({
      name: 'Unique name of the queue. A queue with the same name keeps its items over a reload.',
      when: 'Condition on the runs that the rule puts into the queue. When left out, people add runs over the API, the command line or the console, and the random share enters.',
      max: integer(
        500,
        1,
        queueItemsMax,
        'items',
        'Most open items of one tenant in the queue. At this number no run of it enters until a person has answered one. Drawn runs have separate room: the part `random` of it.',
      ),
    }),
    ask: list(
      { minItems: 1, maxItems: questionsMax },
      question,
      'Questions about each run. An entry names one of `evaluator`, `label`, `score` and `text`.',
    ),
    people: integer(1, 1, queuePeopleMax, 'people', 'Different people who answer each item.'),
    due: duration(
      undefined,
      '1m',
      '365d',
      'Time from the entry of an item to its end. An item without enough answers then expires. When left out, items stay as long as their runs.',
    ),
    order: oneOf(
      queueOrders,
      'oldest',
      '`oldest`: the item that entered first. `informative`: the one that teaches most ([the order](../guides/queues.md#order)).',
    ),
    random: share(
      0.3,
      'Share of the turns that gives a run drawn at random from those that the first judge among its questions has judged. Agreement and corrected rates rest on these ([the random share](../guides/queues.md#random-share)).',
    ),
    lease: duration('15m', '10s', '24h', 'Time that an item is kept for the person who opened it. After it another person may get it.'),
    blind: flag(true, 'True to show a person verdicts of judges and answers of others only after their own answer.'),
  },
);

export const queues = list(
  { maxItems: queuesMax, default: [] },
  queue,
  'Queues of runs that people answer questions about ([annotation queues](../guides/queues.md)). Each answer becomes an annotation, so the agreement of judges and corrected rates follow.',
);
