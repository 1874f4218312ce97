/** People's verdicts come in here. */
import type { AnnotationFate, TakenAnnotation } from '../../model/store/annotation-store.ts';
import { isJsonObject, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import {
  annotationEntries,
  annotationsAtOnceMax,
  annotationsBytesMax,
  annotationSchema,
  readAnnotation,
  type AnnotationFault,
} from './annotations.ts';
import type { Route } from './route.ts';

const refusals: { readonly [fate in Extract<AnnotationFate, 'too_many' | 'full'>]: AnnotationFault & { readonly code: string } } = {
  too_many: {
    code: 'too_many',
    message: 'The trace has as many annotations as it may have.',
    todo: 'Give fewer names, or fewer annotators, for one trace.',
  },
  full: {
    code: 'full',
    message: 'As many annotations wait for their run as may wait.',
    todo: 'Send it again when their runs have come, or when store.keep.annotations has let older ones go.',
  },
};

export const annotationRoutes: readonly Route[] = [
  {
    method: 'post',
    path: '/annotations',
    summary: `Verdicts of people and of other programs on runs, up to ${annotationsAtOnceMax} at once. What is said of a run that is not stored, or not yet, waits for it for \`store.keep.annotations\`. The same again changes nothing.`,
    may: 'annotate',
    path_parameters: {},
    query_parameters: {},
    body: {
      bytesMax: annotationsBytesMax,
      taken: {
        type: 'object',
        required: ['annotations'],
        additionalProperties: false,
        properties: { annotations: { type: 'array', minItems: 1, maxItems: annotationsAtOnceMax } },
      },
      schema: {
        type: 'object',
        required: ['annotations'],
        additionalProperties: false,
        properties: { annotations: { type: 'array', minItems: 1, maxItems: annotationsAtOnceMax, items: annotationSchema } },
      },
    },
    answer: {
      type: 'object',
      required: ['taken', 'refused', 'annotations'],
      properties: {
        taken: { type: 'integer', minimum: 0 },
        refused: { type: 'integer', minimum: 0 },
        annotations: {
          type: 'array',
          items: { $ref: '#/components/schemas/AnnotationResult' },
          description: 'In the order of the request.',
        },
      },
    },
    statuses: {
      of: statusOf,
      meanings: {
        207: 'Some were taken, others refused: `annotations` tells which, and why.',
        422: 'All were refused, each for a fault of its own.',
        503: 'All were refused, for want of room.',
      },
    },
    async handle({ annotate, clock }, _parameters, body) {
      const now = Math.floor(clock.nowMs() * 1_000);
      const entries = (annotationEntries(body) ?? []).map((value) => ({ value, read: readAnnotation(value, now) }));
      const taken = await annotate(entries.flatMap(({ read }) => ('annotation' in read ? [read.annotation] : [])));
      let at = 0;
      const annotations = entries.map(({ value, read }) =>
        'annotation' in read ? resultOf(value, taken[at++]) : refused(value, { code: 'bad_annotation', ...read.fault }),
      );
      const count = annotations.filter(({ status }) => status !== 'refused').length;
      return { taken: count, refused: annotations.length - count, annotations };
    },
  },
  {
    method: 'delete',
    path: '/annotations/{id}',
    summary:
      'Takes one annotation back, whoever gave it, attached or waiting. What is not there is no error, so it may be asked any number of times; the same word sent once more is there again.',
    may: 'annotate',
    path_parameters: {
      id: { type: 'string', pattern: '^[0-9a-f]{32}-[0-9a-f]{24}$', description: 'As the answer to its coming, or its run, tells it.' },
    },
    query_parameters: {},
    answer: {
      type: 'object',
      required: ['deleted'],
      properties: { deleted: { type: 'boolean', description: 'False: it was not there.' } },
    },
    handle: async ({ unannotate }, { id }) => ({ deleted: await unannotate(String(id)) }),
  },
];

function resultOf(value: JsonValue, { fate, id }: TakenAnnotation = { fate: 'full', id: undefined }): JsonObject {
  return fate === 'too_many' || fate === 'full'
    ? refused(value, refusals[fate])
    : { id: id ?? null, ...named(value), status: fate, error: null };
}

function refused(value: JsonValue, { code, message, todo }: AnnotationFault & { readonly code: string }): JsonObject {
  return { id: null, ...named(value), status: 'refused', error: { code, message, todo } };
}

/** As it came, so that whoever sent it finds it again. */
function named(value: JsonValue): JsonObject {
  const own = (key: string): JsonValue => {
    const found = isJsonObject(value) ? member(value, key) : undefined;
    return typeof found === 'string' ? found.slice(0, 200) : null;
  };
  return { trace_id: own('trace_id'), span_id: own('span_id'), name: own('name'), by: own('by') };
}

function statusOf(answer: JsonObject): number {
  if (answer['refused'] === 0) return 200;
  if (answer['taken'] !== 0) return 207;
  const annotations = answer['annotations'] as readonly JsonObject[];
  return annotations.every(({ error }) => isJsonObject(error) && error['code'] === 'full') ? 503 : 422;
}
