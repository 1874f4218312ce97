/**
 * Keys of features that are not there yet. A configuration that names them is taken, so that one file serves several releases; a value
 * other than the default is answered with a warning.
 */
import type { JsonSchema } from '../../../evaluators/evaluator.ts';
import type { Section } from './section.ts';

const notYet = 'Not in this release: any other value is answered with a warning and does nothing.';

function list(key: string, meaning: string): Section {
  return { key, schema: { type: 'array', maxItems: 1000, default: [], 'x-planned': true, description: `${meaning} ${notYet}` } };
}

const telemetryTraces: JsonSchema = {
  type: 'object',
  additionalProperties: false,
  default: {},
  properties: {
    exporter: { type: 'string', maxLength: 100, default: 'none', description: 'Where they go, as `OTEL_TRACES_EXPORTER` names it.' },
    sample: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      default: 0.01,
      'x-unit': 'share',
      description: 'Share of requests and runs that get spans.',
    },
  },
};

export const planned: readonly Section[] = [
  {
    key: 'telemetry',
    schema: {
      type: 'object',
      additionalProperties: false,
      default: {},
      'x-planned': true,
      description: `Spans of the service itself. ${notYet}`,
      properties: { traces: telemetryTraces },
    },
  },
  {
    key: 'shards',
    schema: {
      type: 'integer',
      minimum: 1,
      maximum: 256,
      default: 1,
      'x-unit': 'threads',
      'x-planned': true,
      description: `Threads that assemble and score. ${notYet}`,
    },
  },
  list('dialects', 'Readers of attributes of your own, without code.'),
  list('datasets', 'Rules that keep runs as examples.'),
  list('queues', 'Rules that put runs before people.'),
  list('alerts', 'Rules that notify you when a figure changes.'),
];
