/**
 * Keys of features that are not there yet. A configuration that names them is taken, so that one file serves several releases; a value
 * other than the default is answered with a warning.
 */
import type { Section } from './section.ts';

const notYet = 'Not in this release: any other value is answered with a warning and does nothing.';

function list(key: string, meaning: string): Section {
  return { key, schema: { type: 'array', maxItems: 1000, default: [], 'x-planned': true, description: `${meaning} ${notYet}` } };
}

export const shards: Section = {
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
};

export const planned: readonly Section[] = [
  list('datasets', 'Rules that keep runs as examples.'),
  list('queues', 'Rules that put runs before people.'),
  list('alerts', 'Rules that notify you when a figure changes.'),
];
