import { datasetExamplesMax } from '../../model/store/dataset-store.ts';
import { integer, list, object, text } from '../field.ts';
import { runRule } from './section.ts';

/** Each scored run is tested with each rule. */
const rulesMax = 100;

export const datasets = list(
  { maxItems: rulesMax, default: [] },
  object(
    { required: ['name', 'when'] },
    {
      ...runRule({
        name: 'Name of the dataset. Each tenant has a separate dataset.',
        when: 'Condition on the runs that the rule keeps. It may name rules and judges: the service tests a run again with each verdict.',
        max: integer(
          500,
          1,
          datasetExamplesMax,
          'examples',
          'Most examples of the dataset, those that people have added included. At this number the rule adds none.',
        ),
      }),
      tags: list({ maxItems: 20, default: [] }, text({ minLength: 1, maxLength: 200 }), 'Tags of the examples.'),
    },
  ),
  'Rules that keep runs as examples of datasets in the store, while the service runs ([rules](../guides/datasets.md#rules)). An example of a rule is a draft.',
);
