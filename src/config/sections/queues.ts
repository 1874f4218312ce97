import { queueItemsMax, queuePeopleMax } from '../../model/store/queue-store.ts';
import { questionsMax, questionValuesMax } from '../../queues/question.ts';
import { queueOrders } from '../../queues/queue-settings.ts';
import { duration, integer, runRuleKeys, type Section } from './section.ts';

/** Each scored run is tested with each rule. */
const queuesMax = 100;
/** The range of a score that the file gives none. */
export const scoreDefaults = { min: 0, max: 1 } as const;
const nameCharsMax = 200;

const named = (description: string) => ({ type: 'string', minLength: 1, maxLength: nameCharsMax, description }) as const;
const bound = (description: string) => ({ type: 'number', minimum: -1_000_000, maximum: 1_000_000, description }) as const;

export const queues: Section = {
  key: 'queues',
  schema: {
    type: 'array',
    maxItems: queuesMax,
    default: [],
    description:
      'Queues of runs that people answer questions about ([annotation queues](../guides/queues.md)). Each answer becomes an annotation, so the agreement of judges and corrected rates follow.',
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['name', 'ask'],
      properties: {
        ...runRuleKeys({
          name: 'Unique name of the queue. A queue with the same name keeps its items over a reload.',
          when: 'Which runs the rule puts into the queue. When left out, people add runs over the API, the command line or the console, and the random share enters.',
          max: integer(
            500,
            1,
            queueItemsMax,
            'items',
            'Most open items of one tenant in the queue. At this number no run of it enters until a person has answered one. Drawn runs have room of their own: the part `random` of it.',
          ),
        }),
        ask: {
          type: 'array',
          minItems: 1,
          maxItems: questionsMax,
          description: 'Questions about each run. An entry names one of `evaluator`, `label`, `score` and `text`.',
          items: {
            type: 'object',
            additionalProperties: false,
            properties: {
              evaluator: named('Asks whether the run should pass this evaluator: `pass` or `fail`.'),
              label: named('Asks for one of `values`, as an annotation of this name.'),
              values: {
                type: 'array',
                minItems: 2,
                maxItems: questionValuesMax,
                uniqueItems: true,
                items: named('A label.'),
                description: 'Labels to choose from, for `label` alone. Keys 1 to 9 choose them in the console.',
              },
              score: named('Asks for a number, as an annotation of this name. It is stored as a score from 0 to 1.'),
              min: bound(`Lowest number of a \`score\`; ${scoreDefaults.min} when left out.`),
              max: bound(`Highest number of a \`score\`; ${scoreDefaults.max} when left out.`),
              text: named('Asks for a text, as an annotation of this name. A person may leave it out.'),
            },
          },
        },
        people: integer(1, 1, queuePeopleMax, 'people', 'Different people who answer each item.'),
        due: duration(
          undefined,
          '1m',
          '365d',
          'From the entry of an item to its end. An item without enough answers then expires. When left out, items stay as long as their runs.',
        ),
        order: {
          enum: queueOrders,
          default: 'oldest',
          description:
            '`oldest`: the item that entered first. `informative`: the one that teaches most ([the order](../guides/queues.md#order)).',
        },
        random: {
          type: 'number',
          minimum: 0,
          maximum: 1,
          default: 0.3,
          'x-unit': 'share',
          description:
            'Share of the turns that gives a run drawn at random from those that the first judge among its questions has judged. Agreement and corrected rates rest on these ([the random share](../guides/queues.md#random-share)).',
        },
        lease: duration('15m', '10s', '24h', 'How long an item is kept for the person who opened it. After it another person may get it.'),
        blind: {
          type: 'boolean',
          default: true,
          description: 'True: a person sees verdicts of judges and the answers of others only after the own answer.',
        },
      },
    },
  },
};
