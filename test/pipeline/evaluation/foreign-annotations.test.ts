/** Annotations in spans and records of other programs. */
import { expect, test } from 'vitest';
import type { Annotation } from '../../../src/model/store/annotation-store.ts';
import { noTenant } from '../../../src/model/ids.ts';
import { annotationsOfRecords, annotationsOfSpans } from '../../../src/pipeline/evaluation/foreign-annotations.ts';
import { readTraces } from '../../../src/otlp/read/read.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { spanId } from '../../builders/agent-trace.ts';
import { record, span, type Attributes } from '../../builders/spans.ts';

const result = (attributes: Attributes): { readonly name: string; readonly attributes: Attributes } => ({
  name: 'gen_ai.evaluation.result',
  attributes,
});
const relevance = { 'gen_ai.evaluation.name': 'relevance' };
const shop = { 'service.name': 'grader' };

const cases: readonly {
  readonly name: string;
  readonly given: Parameters<typeof span>[0];
  readonly want: readonly Partial<Annotation>[];
}[] = [
  { name: 'a span without results', given: { id: 1, attributes: { 'input.value': 'x' }, events: [{ name: 'exception' }] }, want: [] },
  {
    name: 'a result of the conventions',
    given: {
      id: 1,
      start: 5,
      resource: shop,
      events: [
        result({
          ...relevance,
          'gen_ai.evaluation.score.value': 0.5,
          'gen_ai.evaluation.score.label': 'relevant',
          'gen_ai.evaluation.explanation': 'It answers.',
        }),
      ],
    },
    want: [
      {
        traceId: span({ id: 1 }).traceId,
        spanId: spanId(1),
        isNear: true,
        name: 'relevance',
        by: 'grader',
        kind: 'evaluator',
        score: 0.5,
        label: 'relevant',
        passed: undefined,
        explanation: 'It answers.',
        at: Number(span({ id: 1, start: 5 }).startUnixNano / 1_000n),
      },
    ],
  },
  {
    name: 'a whole number as a score',
    given: { id: 1, events: [result({ ...relevance, 'gen_ai.evaluation.score.value': 1 })] },
    want: [{ score: 1, by: 'test' }],
  },
  {
    name: 'an annotator that claims to be a person',
    given: {
      id: 1,
      events: [
        result({ ...relevance, 'tracejury.passed': false, 'tracejury.annotator.kind': 'human', 'tracejury.annotator.id': 'ann' }),
        result({ ...relevance, 'gen_ai.evaluation.score.value': 1, 'tracejury.annotator.kind': 'user' }),
        result({ ...relevance, 'tracejury.passed': true, 'tracejury.annotator.kind': 'king' }),
      ],
    },
    want: [{ kind: 'human', by: 'ann', passed: false }, { kind: 'user' }, { kind: 'evaluator' }],
  },
  {
    name: 'a score on another scale, which is none',
    given: {
      id: 1,
      events: [
        result({ ...relevance, 'gen_ai.evaluation.score.value': 4 }),
        result({ ...relevance, 'gen_ai.evaluation.score.value': 4, 'gen_ai.evaluation.score.label': 'good' }),
      ],
    },
    want: [{ score: undefined, label: 'good' }],
  },
  {
    name: 'results without a name, with an error, or with nothing said',
    given: {
      id: 1,
      events: [
        result({ 'gen_ai.evaluation.score.value': 1 }),
        result({ ...relevance, 'error.type': 'timeout', 'gen_ai.evaluation.score.value': 1 }),
        result(relevance),
        result({ ...relevance, 'gen_ai.evaluation.score.value': '1' }),
      ],
    },
    want: [],
  },
  {
    name: 'annotations of OpenInference',
    given: {
      id: 1,
      attributes: {
        'evaluations.0.evaluation.name': 'toxicity',
        'evaluations.0.evaluation.score': 0,
        'evaluations.0.evaluation.label': 'non-toxic',
        'evaluations.0.evaluation.explanation': 'Kind.',
        'evaluations.0.evaluation.annotator_kind': 'HUMAN',
        'evaluations.0.evaluation.identifier': 'bob',
        'evaluations.7.evaluation.name': 'tone',
        'evaluations.7.evaluation.label': 'flat',
        'evaluations.7.evaluation.annotator_kind': 'LLM',
      },
    },
    want: [
      { name: 'toxicity', score: 0, label: 'non-toxic', explanation: 'Kind.', kind: 'human', by: 'bob' },
      { name: 'tone', label: 'flat', kind: 'evaluator', by: 'test' },
    ],
  },
  {
    name: 'annotations in the other word of OpenInference, and of a whole trace',
    given: {
      id: 1,
      attributes: {
        'annotations.0.annotation.name': 'tone',
        'annotations.0.annotation.label': 'flat',
        'trace.evaluations.0.evaluation.name': 'whole',
        'trace.evaluations.0.evaluation.score': 0.5,
        'trace.annotations.3.annotation.name': 'shape',
        'trace.annotations.3.annotation.label': 'round',
      },
    },
    want: [
      { spanId: spanId(1), name: 'tone', label: 'flat' },
      { spanId: undefined, name: 'whole', score: 0.5 },
      { spanId: undefined, name: 'shape', label: 'round' },
    ],
  },
  {
    name: 'annotations of a session, which is not a run',
    given: {
      id: 1,
      attributes: { 'session.id': 's', 'session.evaluations.0.evaluation.name': 'tone', 'session.evaluations.0.evaluation.label': 'flat' },
    },
    want: [],
  },
  {
    name: 'a span that was made to report about another one',
    given: {
      id: 1,
      trace: 7,
      links: [{ trace: 3, span: 4 }],
      attributes: {
        'openinference.span.kind': 'EVALUATOR',
        'evaluations.0.evaluation.name': 'tone',
        'evaluations.0.evaluation.label': 'flat',
      },
      events: [result({ ...relevance, 'gen_ai.evaluation.score.value': 1 })],
    },
    want: [
      { traceId: span({ id: 1, trace: 3 }).traceId, spanId: spanId(4), name: 'relevance' },
      { traceId: span({ id: 1, trace: 3 }).traceId, spanId: spanId(4), name: 'tone' },
    ],
  },
  {
    name: 'a span about itself that links to what caused it',
    given: {
      id: 1,
      links: [{ trace: 3, span: 4 }],
      attributes: { 'openinference.span.kind': 'AGENT' },
      events: [result({ ...relevance, 'gen_ai.evaluation.score.value': 1 })],
    },
    want: [{ traceId: span({ id: 1 }).traceId, spanId: spanId(1) }],
  },
  {
    name: 'the same of an agent in the words of the conventions',
    given: {
      id: 1,
      links: [{ trace: 3, span: 4 }],
      attributes: { 'gen_ai.operation.name': 'invoke_agent' },
      events: [result({ ...relevance, 'gen_ai.evaluation.score.value': 1 })],
    },
    want: [{ spanId: spanId(1) }],
  },
  {
    name: 'an evaluator with two links, neither of them the one',
    given: {
      id: 1,
      links: [
        { trace: 3, span: 4 },
        { trace: 3, span: 5 },
      ],
      attributes: { 'openinference.span.kind': 'EVALUATOR' },
      events: [result({ ...relevance, 'gen_ai.evaluation.score.value': 1 })],
    },
    want: [{ spanId: spanId(1) }],
  },
  {
    name: 'a result in both forms, once',
    given: {
      id: 1,
      attributes: {
        'evaluations.0.evaluation.name': 'relevance',
        'evaluations.0.evaluation.score': 1,
        'evaluations.0.evaluation.identifier': 'v2',
      },
      events: [result({ ...relevance, 'gen_ai.evaluation.score.value': 1 })],
    },
    want: [{ name: 'relevance', score: 1, by: 'v2' }],
  },
  {
    name: 'keys that only look alike',
    given: {
      id: 1,
      attributes: { 'evaluations.count': 3, 'evaluations.x.evaluation.name': 'tone', 'evaluations.x.evaluation.label': 'flat' },
    },
    want: [],
  },
  {
    name: 'a span of ours',
    given: {
      id: 1,
      attributes: { 'tracejury.generated': true, 'evaluations.0.evaluation.name': 'tone', 'evaluations.0.evaluation.label': 'flat' },
      events: [result({ ...relevance, 'gen_ai.evaluation.score.value': 1 })],
    },
    want: [],
  },
  {
    name: 'a result of ours on a span of another program',
    given: { id: 1, events: [result({ ...relevance, 'tracejury.evaluator.id': 'relevance', 'gen_ai.evaluation.score.value': 1 })] },
    want: [],
  },
  {
    name: 'long texts, which are cut',
    given: {
      id: 1,
      events: [
        result({
          'gen_ai.evaluation.name': 'n'.repeat(300),
          'gen_ai.evaluation.score.label': 'l'.repeat(300),
          'gen_ai.evaluation.explanation': 'e'.repeat(5_000),
        }),
      ],
    },
    want: [{ name: 'n'.repeat(200), label: 'l'.repeat(200), explanation: 'e'.repeat(4_000) }],
  },
];
for (const { name, given, want } of cases) {
  test(`foreign annotations: ${name}`, () => {
    const plain = span(given);
    const found = annotationsOfSpans(noTenant, [plain]);
    expect(found).toHaveLength(want.length);
    expect(found).toMatchObject(want);
    // In the form of a protobuf body: spans of one shape, twice.
    const read = readTraces(writeTraces([plain, span({ id: 99 })], 'protobuf'), 'protobuf').spans;
    expect([annotationsOfSpans(noTenant, read), annotationsOfSpans(noTenant, read)]).toEqual([found, found]);
  });
}

test('foreign annotations: a span gives a hundred at most', () => {
  const events = Array.from({ length: 150 }, (_, at) => result({ 'gen_ai.evaluation.name': `n${at}`, 'gen_ai.evaluation.score.value': 1 }));
  expect(annotationsOfSpans(noTenant, [span({ id: 1, events })])).toHaveLength(100);
});

test('foreign annotations: records give results too, with or without a span', () => {
  const attributes = { ...relevance, 'gen_ai.evaluation.score.value': 0.25 };
  const event = 'gen_ai.evaluation.result';
  const records = [
    record({ span: 3, event, attributes }),
    record({ span: 3, event: 'gen_ai.choice', attributes }),
    record({ span: 3, event, attributes: { ...attributes, 'tracejury.generated': true } }),
  ];
  expect(annotationsOfRecords(noTenant, records)).toMatchObject([
    { spanId: spanId(3), isNear: true, name: 'relevance', score: 0.25, kind: 'evaluator' },
  ]);
  expect(annotationsOfRecords(noTenant, [{ ...record({ span: 3, event, attributes }), spanId: undefined }])).toMatchObject([
    { spanId: undefined, score: 0.25 },
  ]);
});
