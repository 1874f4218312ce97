/** The annotation routes. The API reads each annotation by itself, so that a faulty one does not cost the others. */
import { parseSpanId, parseTraceId, tenant } from '../../model/ids.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from '../../model/json.ts';
import {
  type Annotation,
  type AnnotationFate,
  type AnnotatorKind,
  annotatorKinds,
  type TakenAnnotation,
} from '../../model/store/annotation-store.ts';
import * as api from '../../model/resource.ts';
import type { Micros } from '../../model/timestamp.ts';
import { type Caller, parsedTime, type Route } from './route.ts';

/** Most annotations of one request. */
export const annotationsAtOnceMax = 1_000;
/** Room for the most annotations with explanations of half the allowed length. */
const annotationsBytesMax = 4 * 1024 * 1024;
const nameCharsMax = 200;
const explanationCharsMax = 4_000;
/** Allows for clock skew; an annotation from the far future would outlast every later one. */
const aheadMicrosMax = 3_600_000_000;

const name = (description: string): JsonObject => ({ ...api.text, minLength: 1, maxLength: nameCharsMax, description });

const properties: JsonObject = {
  trace_id: { type: 'string', pattern: '^[0-9a-fA-F]{32}$', description: 'Trace of the run.' },
  span_id: {
    type: ['string', 'null'],
    pattern: '^[0-9a-fA-F]{16}$',
    description: 'Span of the run, needed when the trace holds several. Defaults to the outermost run that started first.',
  },
  tool_call: api.orNull(
    name('The tool call that it is about: the id of its span, or the model’s id of the call. Left out: the whole run.'),
  ),
  tenant: { type: ['string', 'null'], maxLength: nameCharsMax, description: 'Tenant of the run. Defaults to the tenant of the trace.' },
  name: name('Subject of the annotation: the name of an evaluator, for a comparison with its verdicts, or any other.'),
  by: name('Annotator, as an opaque id. The newest annotation of one annotator, run, tool call and name counts.'),
  kind: {
    enum: [...annotatorKinds, null],
    default: 'human',
    description: '`human`: a person who judges runs; `user`: an end user of the agent; `evaluator`: another program.',
  },
  label: api.orNull(name('`pass`, `fail`, or a label of the evaluator.')),
  score: api.orNull(api.share),
  passed: api.orNull(api.flag, 'An annotation has at least one of label, score and passed.'),
  explanation: { type: ['string', 'null'], maxLength: explanationCharsMax },
  at: api.orNull(api.time, 'Time of the annotation; left out: now.'),
};

export const annotationSchema: JsonObject = {
  type: 'object',
  additionalProperties: false,
  required: ['trace_id', 'name', 'by'],
  properties,
};

interface AnnotationFault {
  readonly message: string;
  readonly todo: string;
}

type ReadAnnotation = { readonly annotation: Annotation } | { readonly fault: AnnotationFault };

/** `undefined` when the body has no entries. */
function annotationEntries(body: JsonValue): readonly JsonValue[] | undefined {
  const entries = isJsonObject(body) ? member(body, 'annotations') : undefined;
  return isJsonArray(entries) ? entries : undefined;
}

export function readAnnotation(value: JsonValue, now: Micros): ReadAnnotation {
  if (!isJsonObject(value)) return fault('The annotation is not an object.', 'Give trace_id, name, by, and label, score or passed.');
  const unknown = Object.keys(value).find((key) => !Object.hasOwn(properties, key));
  if (unknown !== undefined)
    return fault(`The key ${JSON.stringify(unknown.slice(0, 100))} is unknown.`, 'The OpenAPI document lists the keys.');
  // null counts as absent.
  const given = (key: string): JsonValue | undefined => member(value, key) ?? undefined;
  const traceId = parsed(given('trace_id'), parseTraceId);
  if (traceId === undefined) return fault('trace_id is not a trace id.', 'Give 32 hex digits, not all zero.');
  const spanId = parsed(given('span_id'), parseSpanId);
  if (spanId === undefined && given('span_id') !== undefined)
    return fault('span_id is not a span id.', 'Give 16 hex digits, not all zero, or leave it out.');
  const toolCall = given('tool_call');
  if (toolCall !== undefined && !isText(toolCall, nameCharsMax)) return notText('tool_call');
  const [of, name, by, label, score, passed, explanation = ''] = [
    given('tenant'),
    given('name'),
    given('by'),
    given('label'),
    given('score'),
    given('passed'),
    given('explanation'),
  ];
  if (of !== undefined && !isText(of, nameCharsMax, 0))
    return fault('tenant is not a name of a tenant.', `Give a text of at most ${nameCharsMax} characters, or leave it out.`);
  if (!isText(name, nameCharsMax)) return notText('name');
  if (!isText(by, nameCharsMax)) return notText('by');
  if (label !== undefined && !isText(label, nameCharsMax)) return notText('label');
  if (score !== undefined && !(typeof score === 'number' && score >= 0 && score <= 1))
    return fault('score is not a number from 0 to 1.', 'Divide it by the largest possible score.');
  if (passed !== undefined && typeof passed !== 'boolean')
    return fault('passed is neither true nor false.', 'Give true, false, or leave it out.');
  if (label === undefined && score === undefined && passed === undefined)
    return fault('The annotation has no label, score or passed.', 'Give at least one of them.');
  if (!isText(explanation, explanationCharsMax, 0))
    return fault('explanation is not a text, or it is too long.', `Give a text of at most ${explanationCharsMax} characters.`);
  const [kind, at] = [kindOf(given('kind')), timeOf(given('at'), now)];
  if (kind === undefined) return fault('kind is unknown.', `Give one of ${annotatorKinds.join(', ')}.`);
  if (at === undefined) return fault('at is not a time, or it is in the future.', 'Write it in RFC 3339: 2026-11-21T09:30:00Z.');
  return {
    annotation: {
      tenant: of === undefined ? undefined : tenant(of),
      traceId,
      spanId,
      ...(toolCall === undefined ? {} : { toolCall: callId(toolCall) }),
      name,
      by,
      kind,
      label,
      score,
      passed,
      explanation,
      at,
    },
  };
}

function parsed<Id>(value: JsonValue | undefined, parse: (text: string) => Id | undefined): Id | undefined {
  return typeof value === 'string' ? parse(value) : undefined;
}

/** A span id becomes lower case; a model's id of a call stays unchanged. */
function callId(toolCall: string): string {
  return parseSpanId(toolCall) ?? toolCall;
}

function isText(value: JsonValue | undefined, charsMax: number, charsMin = 1): value is string {
  return typeof value === 'string' && value.length >= charsMin && value.length <= charsMax;
}

function kindOf(value: JsonValue | undefined): AnnotatorKind | undefined {
  return value === undefined ? 'human' : annotatorKinds.find((kind) => kind === value);
}

function timeOf(value: JsonValue | undefined, now: Micros): Micros | undefined {
  if (value === undefined) return now;
  const at = typeof value === 'string' ? parsedTime(value) : undefined;
  return at === undefined || at < 0 || at > now + aheadMicrosMax ? undefined : at;
}

function notText(key: string): ReadAnnotation {
  return fault(`${key} is not a text of 1 to ${nameCharsMax} characters.`, `Give ${key} as a text.`);
}

function fault(message: string, todo: string): ReadAnnotation {
  return { fault: { message, todo } };
}

const refusals: { readonly [fate in Extract<AnnotationFate, 'too_many' | 'full'>]: AnnotationFault & { readonly code: string } } = {
  too_many: {
    code: 'too_many',
    message: 'The trace has its maximum of annotations.',
    todo: 'Use fewer names, or fewer annotators, for one trace.',
  },
  full: {
    code: 'full',
    message: 'Too many annotations wait for their run.',
    todo: 'Send it again when the runs have come, or when older annotations have expired (store.keep.annotations).',
  },
};

interface Result {
  /** The entry of the request. */
  readonly given: JsonValue;
  readonly id: string | undefined;
  readonly status: AnnotationFate | 'refused';
  readonly error: (AnnotationFault & { readonly code: string }) | undefined;
}

/** Repeats a key of the request, so that the client can match the result. */
const own =
  (key: string) =>
  ({ given }: Result): string | null => {
    const found = isJsonObject(given) ? member(given, key) : undefined;
    return typeof found === 'string' ? found.slice(0, 200) : null;
  };

export const annotationResult = api.resource<Result>()('AnnotationResult', {
  id: api.textOrNull('For a DELETE request; null: it is not stored.'),
  trace_id: [api.textOrNull(), own('trace_id')],
  span_id: [api.textOrNull(), own('span_id')],
  name: [api.textOrNull(), own('name')],
  by: [api.textOrNull(), own('by')],
  status: {
    enum: ['attached', 'waiting', 'outdated', 'refused'],
    description: '`attached`: its run is stored. `waiting`: not yet. `outdated`: the store has a newer one of the same annotator.',
  },
  error: api.optional(
    api.inline<NonNullable<Result['error']>>()({
      code: { enum: ['bad_annotation', 'too_many', 'full'] },
      message: api.text,
      todo: api.text,
    }),
  ),
});

const annotationsBody = (items: JsonObject): JsonObject => ({
  type: 'object',
  required: ['annotations'],
  additionalProperties: false,
  properties: { annotations: { type: 'array', minItems: 1, maxItems: annotationsAtOnceMax, ...items } },
});

export const annotationRoutes: readonly Route[] = [
  {
    method: 'post',
    path: '/annotations',
    summary: `Takes verdicts of people and other programs on runs, up to ${annotationsAtOnceMax} at once. An annotation of a run that is not stored yet waits for it for \`store.keep.annotations\`. The same annotation again changes nothing.`,
    may: 'annotate',
    path_parameters: {},
    query_parameters: {},
    body: {
      bytesMax: annotationsBytesMax,
      taken: annotationsBody({}),
      schema: annotationsBody({ items: annotationSchema }),
    },
    answer: api.object({
      taken: api.count,
      refused: api.count,
      annotations: api.many(annotationResult.schema, 'In the order of the request.'),
    }),
    statuses: {
      of: statusOf,
      meanings: {
        207: 'The API accepted some and refused others: `annotations` has the reasons.',
        422: 'The API refused all, each for its own fault.',
        503: 'The API refused all for want of room.',
      },
    },
    async handle({ annotate, clock }, _parameters, body, caller) {
      const now = Math.floor(clock.nowMs() * 1_000);
      const entries = (annotationEntries(body) ?? [])
        .map((given) => signed(given, caller))
        .map((value) => ({ value, read: readAnnotation(value, now) }));
      const taken = await annotate(entries.flatMap(({ read }) => ('annotation' in read ? [read.annotation] : [])));
      let at = 0;
      const annotations = entries.map(({ value, read }) =>
        'annotation' in read ? resultOf(value, taken[at++]) : refused(value, { code: 'bad_annotation', ...read.fault }),
      );
      const faulty = annotations.filter(({ error }) => error !== undefined).length;
      return {
        taken: annotations.length - faulty,
        refused: faulty,
        annotations: annotations.map(annotationResult.write),
      };
    },
  },
  {
    method: 'delete',
    path: '/annotations/{id}',
    summary:
      'Removes one annotation of any annotator, attached or waiting. A missing annotation is not an error, so the request may be repeated. The same annotation can be sent again.',
    may: 'annotate',
    path_parameters: {
      id: { type: 'string', pattern: '^[0-9a-f]{32}-[0-9a-f]{24}$', description: '`id` in the answer to the POST request, or in the run.' },
    },
    query_parameters: {},
    answer: api.object({ deleted: { ...api.flag, description: 'False when there was no such annotation.' } }),
    handle: async ({ unannotate }, { id }) => ({ deleted: await unannotate(String(id)) }),
  },
];

/** A person who is signed in annotates only under their own name. */
function signed(value: JsonValue, { name, isPerson }: Caller): JsonValue {
  return isPerson && isJsonObject(value) ? { ...value, by: name ?? null, kind: 'human' } : value;
}

function resultOf(given: JsonValue, { fate, id }: TakenAnnotation = { fate: 'full', id: undefined }): Result {
  return fate === 'too_many' || fate === 'full' ? refused(given, refusals[fate]) : { given, id, status: fate, error: undefined };
}

function refused(given: JsonValue, error: Result['error']): Result {
  return { given, id: undefined, status: 'refused', error };
}

function statusOf(answer: JsonObject): number {
  if (answer['refused'] === 0) return 200;
  if (answer['taken'] !== 0) return 207;
  const annotations = answer['annotations'] as readonly JsonObject[];
  return annotations.every(({ error }) => isJsonObject(error) && error['code'] === 'full') ? 503 : 422;
}
