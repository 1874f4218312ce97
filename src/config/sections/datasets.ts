import { datasetExamplesMax } from '../../model/store/dataset-store.ts';
import { integer, runRuleKeys, type Section } from './section.ts';

/** Each scored run is tested with each rule. */
const rulesMax = 100;

export const datasets: Section = {
  key: 'datasets',
  schema: {
    type: 'array',
    maxItems: rulesMax,
    default: [],
    description:
      'Rules that keep runs as examples of datasets in the store, while the service runs ([rules](../guides/datasets.md#rules)). An example of a rule is a draft.',
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['name', 'when'],
      properties: {
        ...runRuleKeys({
          name: 'Name of the dataset. Each tenant has a dataset of its own.',
          when: 'Which runs the rule keeps. It may name rules and judges: the service tests a run again with each verdict.',
          max: integer(
            500,
            1,
            datasetExamplesMax,
            'examples',
            'Most examples of the dataset, those that people have added included. At this number the rule adds none.',
          ),
        }),
        tags: {
          type: 'array',
          maxItems: 20,
          default: [],
          items: { type: 'string', minLength: 1, maxLength: 200 },
          description: 'Tags of the examples.',
        },
      },
    },
  },
};
