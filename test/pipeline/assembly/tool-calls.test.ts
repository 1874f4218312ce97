/** Tool calls come from tool spans, from the requests of models and from their messages; each call counts once. */
import { describe, expect, test } from 'vitest';
import type { ToolCall } from '../../../src/model/agent-trace.ts';
import type { LogRecord, Span } from '../../../src/model/span.ts';
import { onlyTrace } from '../../builders/assembled.ts';
import {
  agentSpan,
  assistant,
  choiceRecord,
  modelSpan,
  modelSpanWithRecords,
  toolMessage,
  toolSpan,
  user,
  type CallData,
} from '../../builders/gen-ai-spans.ts';
import { record, span } from '../../builders/spans.ts';

const f1: CallData = { id: 'c1', name: 'f', arguments: { x: 1 } };
const f2: CallData = { id: 'c2', name: 'f', arguments: { x: 1 } };
const g: CallData = { id: 'c3', name: 'g', arguments: { y: 2 } };
const broken: CallData = { name: 'f', arguments: '{"x": 1' };
const otherBroken: CallData = { name: 'f', arguments: '{"x": 2' };
const [brokenCall, otherBrokenCall] = [broken, otherBroken].map(({ arguments: text }) => ({
  name: 'f',
  arguments: null,
  argumentsText: String(text),
})) as [Partial<ToolCall>, Partial<ToolCall>];
const root = agentSpan({ id: 1, start: 0, end: 1_000 });

/** A conversation in which each turn counts its call ids from one. */
const conversation = [
  user('q'),
  assistant({ asks: [{ id: 'call_1', name: 'f', arguments: { x: 1 } }] }),
  toolMessage([{ id: 'call_1', response: 'first' }]),
  assistant({ text: 'done' }),
  user('and now?'),
];
const twoAsked = [
  assistant({ asks: [{ id: 'call_1', name: 'f', arguments: { x: 1 } }] }),
  toolMessage([{ id: 'call_1', response: 'first' }]),
  assistant({ asks: [{ id: 'call_1', name: 'f', arguments: { x: 2 } }] }),
];

interface Case {
  readonly name: string;
  readonly spans: readonly Span[];
  readonly records?: readonly LogRecord[];
  /** In order; only the members named are compared. */
  readonly calls: readonly Partial<ToolCall>[];
}

const cases: readonly Case[] = [
  {
    name: 'a status around the result of a span does not belong to it where the model only got the result',
    spans: [
      modelSpan({ id: 2, parent: 1, asks: [f1] }),
      toolSpan({ id: 3, parent: 1, tool: 'f', call: 'c1', result: '{"status":"success","result":{"r":1}}' }),
      modelSpan({ id: 4, parent: 1, start: 300, end: 400, told: [{ id: 'c1', response: '{"r":1}' }] }),
    ],
    calls: [{ id: 'c1', name: 'f', result: { r: 1 } }],
  },
  {
    name: 'a status beside the result belongs to it where the model got both',
    spans: [
      modelSpan({ id: 2, parent: 1, asks: [f1] }),
      toolSpan({ id: 3, parent: 1, tool: 'f', call: 'c1', result: '{"status":"success","result":{"r":1}}' }),
      modelSpan({ id: 4, parent: 1, start: 300, end: 400, told: [{ id: 'c1', response: '{"status":"success","result":{"r":1}}' }] }),
    ],
    calls: [{ id: 'c1', name: 'f', result: { status: 'success', result: { r: 1 } } }],
  },
  {
    name: 'a call that the model asks for and a span has is one call',
    spans: [
      modelSpan({ id: 2, parent: 1, asks: [f1] }),
      toolSpan({ id: 3, parent: 1, tool: 'f', call: 'c1', arguments: '{"x":1}', result: '{"r":1}' }),
    ],
    calls: [
      {
        name: 'f',
        id: 'c1',
        arguments: { x: 1 },
        result: { r: 1 },
        executed: true,
        turn: 0,
        provenance: { name: 'tool_span', id: 'tool_span', arguments: 'tool_span', result: 'tool_span' },
      },
    ],
  },
  {
    name: 'a call without its id in an answer has the id with which the next request repeats it',
    spans: [
      modelSpan({ id: 2, parent: 1, user: 'q', asks: [{ name: 'f', arguments: { x: 1 } }] }),
      modelSpan({ id: 3, parent: 1, user: 'q', history: [assistant({ asks: [f1] })], told: [{ id: 'c1', response: { r: 1 } }], says: 'a' }),
    ],
    calls: [{ name: 'f', id: 'c1', turn: 0, executed: true, result: { r: 1 } }],
  },
  {
    name: 'a result that is reported twice failed where it is reported once as an error',
    spans: [
      modelSpan({ id: 2, parent: 1, user: 'q', asks: [f1] }),
      modelSpan({
        id: 3,
        parent: 1,
        user: 'q',
        history: [toolMessage([{ id: 'c1', response: 'boom' }])],
        told: [{ id: 'c1', response: 'boom', is_error: true }],
        says: 'a',
      }),
    ],
    calls: [{ id: 'c1', result: 'boom', error: { message: 'boom', sign: 'is_error' } }],
  },
  {
    name: 'a call that the next request repeats without its id is the same call',
    spans: [
      modelSpan({ id: 2, parent: 1, user: 'q', asks: [f1] }),
      toolSpan({ id: 3, parent: 1, tool: 'f', call: 'c1', result: { r: 1 } }),
      modelSpan({
        id: 4,
        parent: 1,
        user: 'q',
        history: [assistant({ asks: [{ name: 'f', arguments: { x: 1 } }] })],
        told: [{ response: { r: 1 } }],
        says: 'a',
      }),
    ],
    calls: [{ name: 'f', id: 'c1', turn: 0, executed: true, result: { r: 1 } }],
  },
  {
    name: 'one request whose messages were written down when the run had gone on has all calls',
    spans: [
      modelSpan({
        id: 2,
        parent: 1,
        user: 'q',
        history: [assistant({ asks: [f1] }), toolMessage([{ id: 'c1', response: { r: 1 } }]), assistant({ asks: [g] })],
        told: [{ id: 'c3', response: { r: 3 } }],
        asks: [f1],
      }),
      toolSpan({ id: 3, parent: 1, tool: 'f', arguments: { x: 1 } }),
      toolSpan({ id: 4, parent: 1, tool: 'g', arguments: { y: 2 } }),
    ],
    calls: [
      { name: 'f', id: 'c1', executed: true, result: { r: 1 } },
      { name: 'g', id: 'c3', executed: true, result: { r: 3 } },
    ],
  },
  {
    name: 'repeated identical calls with different ids stay apart',
    spans: [
      modelSpan({ id: 2, parent: 1, asks: [f1] }),
      toolSpan({ id: 3, parent: 1, tool: 'f', call: 'c1' }),
      modelSpan({ id: 4, parent: 1, asks: [f2] }),
      toolSpan({ id: 5, parent: 1, tool: 'f', call: 'c2' }),
    ],
    calls: [
      { id: 'c1', turn: 0 },
      { id: 'c2', turn: 1 },
    ],
  },
  {
    name: 'spans without ids are matched by name and arguments, in any order',
    spans: [
      modelSpan({ id: 2, parent: 1, asks: [f1, { id: 'c9', name: 'f', arguments: { x: 9 } }, g] }),
      toolSpan({ id: 3, parent: 1, tool: 'g', arguments: '{"y":2}' }),
      toolSpan({ id: 4, parent: 1, tool: 'f', arguments: '{"x":9}' }),
      toolSpan({ id: 5, parent: 1, tool: 'f', arguments: '{"x":1}' }),
    ],
    calls: [
      { name: 'g', id: 'c3' },
      { id: 'c9', arguments: { x: 9 } },
      { id: 'c1', arguments: { x: 1 } },
    ],
  },
  {
    name: 'the order of an argument object’s members does not matter',
    spans: [
      modelSpan({ id: 2, parent: 1, asks: [{ id: 'c1', name: 'f', arguments: { a: 1, b: { c: 2, d: 3 } } }] }),
      toolSpan({ id: 3, parent: 1, tool: 'f', arguments: '{"b":{"d":3,"c":2},"a":1}' }),
    ],
    calls: [{ id: 'c1', executed: true }],
  },
  {
    name: 'spans without ids and arguments are matched by name in order',
    spans: [
      modelSpan({ id: 2, parent: 1, asks: [f1, g, f2] }),
      toolSpan({ id: 3, parent: 1, tool: 'f' }),
      toolSpan({ id: 4, parent: 1, tool: 'g' }),
      toolSpan({ id: 5, parent: 1, tool: 'f' }),
    ],
    calls: [
      { id: 'c1', arguments: { x: 1 }, provenance: { name: 'tool_span', id: 'model_message', arguments: 'model_message' } },
      { id: 'c3' },
      { id: 'c2' },
    ],
  },
  {
    name: 'a span with a separate id leaves calls with other ids to others',
    spans: [
      modelSpan({ id: 2, parent: 1, asks: [g] }),
      toolSpan({ id: 3, parent: 1, tool: 'g', call: 'other' }),
      toolSpan({ id: 4, parent: 1, tool: 'g' }),
    ],
    calls: [{ id: 'other' }, { id: 'c3', spanId: toolSpan({ id: 4 }).spanId }],
  },
  {
    name: 'a call that was asked for and never answered was not executed',
    spans: [modelSpan({ id: 2, parent: 1, asks: [f1] })],
    calls: [
      {
        name: 'f',
        id: 'c1',
        arguments: { x: 1 },
        executed: false,
        provenance: { name: 'model_message', id: 'model_message', arguments: 'model_message' },
      },
    ],
  },
  {
    name: 'the next request has the result where no span does',
    spans: [
      modelSpan({ id: 2, parent: 1, user: 'q', asks: [f1, g] }),
      modelSpan({
        id: 3,
        parent: 1,
        user: 'q',
        history: [assistant({ asks: [f1, g] })],
        told: [
          { id: 'c3', response: 'of g' },
          { id: 'c1', response: 'of f' },
        ],
        says: 'done',
      }),
    ],
    calls: [
      { name: 'f', result: 'of f', executed: true, turn: 0 },
      {
        name: 'g',
        result: 'of g',
        executed: true,
        turn: 0,
        provenance: { name: 'model_message', id: 'model_message', arguments: 'model_message', result: 'model_message' },
      },
    ],
  },
  {
    name: 'ids that each turn of a conversation counts from one lose no call of a later turn',
    spans: [
      modelSpan({ id: 2, parent: 1, history: conversation, asks: [{ id: 'call_1', name: 'f', arguments: { x: 2 } }] }),
      modelSpan({
        id: 3,
        parent: 1,
        history: [
          ...conversation,
          assistant({ asks: [{ id: 'call_1', name: 'f', arguments: { x: 2 } }] }),
          toolMessage([{ id: 'call_1', response: 'second' }]),
        ],
        says: 'done',
      }),
    ],
    calls: [{ id: 'call_1', arguments: { x: 2 }, result: 'second', executed: true, turn: 0 }],
  },
  {
    name: 'a call of a later turn that only the next request has keeps its own id',
    spans: [
      modelSpan({ id: 2, parent: 1, history: conversation }),
      modelSpan({
        id: 3,
        parent: 1,
        history: [
          ...conversation,
          assistant({ asks: [{ id: 'call_1', name: 'f', arguments: { x: 2 } }] }),
          toolMessage([{ id: 'call_1', response: 'second' }]),
        ],
        says: 'done',
      }),
    ],
    calls: [{ id: 'call_1', arguments: { x: 2 }, result: 'second', executed: true, turn: 0 }],
  },
  {
    name: 'an id that is asked again when its result came is another call, with a separate result and span',
    spans: [
      modelSpan({ id: 2, parent: 1, start: 0, end: 10, user: 'q', asks: [{ id: 'call_1', name: 'f', arguments: { x: 1 } }] }),
      toolSpan({ id: 3, parent: 1, start: 20, end: 30, tool: 'f', call: 'call_1' }),
      modelSpan({
        id: 4,
        parent: 1,
        start: 40,
        end: 50,
        user: 'q',
        history: [assistant({ asks: [{ id: 'call_1', name: 'f', arguments: { x: 1 } }] })],
        told: [{ id: 'call_1', response: 'first' }],
        asks: [{ id: 'call_1', name: 'f', arguments: { x: 2 } }],
      }),
      toolSpan({ id: 5, parent: 1, start: 60, end: 70, tool: 'f', call: 'call_1' }),
      modelSpan({
        id: 6,
        parent: 1,
        start: 80,
        end: 90,
        user: 'q',
        history: twoAsked,
        told: [{ id: 'call_1', response: 'second' }],
        says: 'done',
      }),
    ],
    calls: [
      { id: 'call_1', arguments: { x: 1 }, result: 'first', turn: 0 },
      { id: 'call_1', arguments: { x: 2 }, result: 'second', turn: 1 },
    ],
  },
  {
    name: 'the next request has the result that the tool’s span lacks',
    spans: [
      modelSpan({ id: 2, parent: 1, user: 'q', asks: [f1] }),
      toolSpan({ id: 3, parent: 1, tool: 'f' }),
      modelSpan({ id: 4, parent: 1, user: 'q', told: [{ id: 'c1', response: 'r' }] }),
    ],
    calls: [
      {
        id: 'c1',
        result: 'r',
        executed: true,
        provenance: { name: 'tool_span', id: 'model_message', arguments: 'model_message', result: 'model_message' },
      },
    ],
  },
  {
    name: 'a result that a request has by id reaches a span whose request was not carried',
    spans: [
      toolSpan({ id: 3, parent: 1, tool: 'f', call: 'c1' }),
      modelSpan({ id: 4, parent: 1, user: 'q', history: [assistant({ asks: [f1] })], told: [{ id: 'c1', response: 'r' }] }),
    ],
    calls: [{ id: 'c1', result: 'r', executed: true }],
  },
  {
    name: 'results without ids are taken in order by the calls of their name',
    spans: [
      modelSpan({
        id: 2,
        parent: 1,
        user: 'q',
        asks: [
          { name: 'f', arguments: '{}' },
          { name: 'g', arguments: '{}' },
          { name: 'f', arguments: '{}' },
        ],
      }),
      modelSpan({
        id: 3,
        parent: 1,
        user: 'q',
        told: [
          { name: 'g', response: 'g1' },
          { name: 'f', response: 'f1' },
          { name: 'f', response: 'f2' },
        ],
      }),
    ],
    calls: [
      { name: 'f', result: 'f1' },
      { name: 'g', result: 'g1' },
      { name: 'f', result: 'f2' },
    ],
  },
  {
    name: 'a nameless result belongs to the call at its place, with or without a span',
    spans: [
      modelSpan({
        id: 2,
        parent: 1,
        user: 'q',
        asks: [
          { name: 'f', arguments: '{}' },
          { name: 'g', arguments: '{}' },
        ],
      }),
      toolSpan({ id: 3, parent: 1, tool: 'f' }),
      modelSpan({ id: 4, parent: 1, user: 'q', told: [{ response: 'first' }, { response: 'second' }] }),
    ],
    calls: [
      { name: 'f', result: 'first' },
      { name: 'g', result: 'second', executed: true },
    ],
  },
  {
    name: 'history that every request repeats adds nothing',
    spans: [2, 3, 4, 5].map((id) =>
      modelSpan({
        id,
        parent: 1,
        user: 'q',
        history: [f1, g]
          .slice(0, id - 2)
          .flatMap((call) => [assistant({ asks: [call] }), toolMessage([{ id: call.id ?? '', response: 'r' }])]),
        asks: [f1, g].slice(id - 2, id - 1),
      }),
    ),
    calls: [
      { id: 'c1', turn: 0 },
      { id: 'c3', turn: 1 },
    ],
  },
  {
    name: 'calls of an earlier turn of the conversation belong to an earlier run',
    spans: [
      modelSpan({
        id: 2,
        parent: 1,
        history: [user('before'), assistant({ asks: [f1] }), toolMessage([{ id: 'c1', response: 'r' }]), user('now')],
        asks: [g],
      }),
    ],
    calls: [{ id: 'c3' }],
  },
  {
    name: 'a call without an id that an earlier turn also made is this turn’s own when a later request has it',
    spans: [
      modelSpan({
        id: 2,
        parent: 1,
        history: [user('before'), assistant({ asks: [{ name: 'f', arguments: '{}' }] }), toolMessage([{ response: 'old' }]), user('now')],
      }),
      modelSpan({
        id: 3,
        parent: 1,
        history: [
          user('before'),
          assistant({ asks: [{ name: 'f', arguments: '{}' }] }),
          toolMessage([{ response: 'old' }]),
          user('now'),
          assistant({ asks: [{ name: 'f', arguments: '{}' }] }),
          toolMessage([{ response: 'new' }]),
        ],
      }),
    ],
    calls: [{ name: 'f', result: 'new', executed: true, turn: 0 }],
  },
  {
    name: 'calls without ids whose arguments cannot be parsed stay apart, and what the next request repeats adds nothing',
    spans: [
      modelSpan({ id: 2, parent: 1, user: 'q', asks: [broken, otherBroken, broken] }),
      modelSpan({
        id: 3,
        parent: 1,
        user: 'q',
        history: [assistant({ asks: [broken, otherBroken, broken] })],
        told: [{ response: 'r1' }, { response: 'r2' }, { response: 'r3' }],
        says: 'done',
      }),
    ],
    calls: [
      { ...brokenCall, result: 'r1' },
      { ...otherBrokenCall, result: 'r2' },
      { ...brokenCall, result: 'r3' },
    ],
  },
  {
    name: 'a call without an id whose arguments cannot be parsed is not the one of an earlier request',
    spans: [
      modelSpan({ id: 2, parent: 1, user: 'q', asks: [broken] }),
      modelSpan({ id: 3, parent: 1, user: 'q', history: [assistant({ asks: [otherBroken] })], told: [{ response: 'r' }] }),
    ],
    calls: [brokenCall, otherBrokenCall],
  },
  {
    name: 'spans without ids find their calls by arguments that cannot be parsed too',
    spans: [
      modelSpan({ id: 2, parent: 1, user: 'q', asks: [broken, otherBroken] }),
      toolSpan({ id: 3, parent: 1, tool: 'f', arguments: '{"x": 2' }),
      toolSpan({ id: 4, parent: 1, tool: 'f', arguments: '{"x": 1' }),
      modelSpan({ id: 5, parent: 1, user: 'q', told: [{ response: 'r1' }, { response: 'r2' }] }),
    ],
    calls: [
      { ...otherBrokenCall, result: 'r2' },
      { ...brokenCall, result: 'r1' },
    ],
  },
  {
    name: 'calls that one turn asks for share its number, also when they run at once',
    spans: [
      modelSpan({ id: 2, parent: 1, start: 1, end: 2, asks: [f1, g] }),
      toolSpan({ id: 4, parent: 1, tool: 'g', call: 'c3', start: 5, end: 9 }),
      toolSpan({ id: 3, parent: 1, tool: 'f', call: 'c1', start: 5, end: 30 }),
      modelSpan({ id: 5, parent: 1, start: 31, asks: [f2] }),
      toolSpan({ id: 6, parent: 1, tool: 'f', call: 'c2', start: 40 }),
    ],
    calls: [
      { id: 'c1', turn: 0 },
      { id: 'c3', turn: 0 },
      { id: 'c2', turn: 1 },
    ],
  },
  {
    name: 'at one start time the order of the messages counts, then the order of arrival',
    spans: [
      modelSpan({ id: 2, parent: 1, start: 5, asks: [g, f1] }),
      toolSpan({ id: 3, parent: 1, tool: 'f', call: 'c1', start: 5, end: 6 }),
      toolSpan({ id: 4, parent: 1, tool: 'g', call: 'c3', start: 5, end: 9 }),
      toolSpan({ id: 8, parent: 1, tool: 'b', start: 5, end: 7 }),
      toolSpan({ id: 7, parent: 1, tool: 'c', start: 5, end: 7 }),
      toolSpan({ id: 9, parent: 1, tool: 'a', start: 5, end: 6 }),
    ],
    calls: [{ name: 'g' }, { name: 'f' }, { name: 'b' }, { name: 'c' }, { name: 'a' }],
  },
  {
    name: 'log records give calls and results with their own provenance',
    spans: [modelSpanWithRecords({ id: 2, parent: 1 }), modelSpanWithRecords({ id: 3, parent: 1 })],
    records: [
      record({ span: 2, time: 1, event: 'gen_ai.user.message', body: { content: 'q' } }),
      choiceRecord({ span: 2, time: 2, asks: [{ id: 'c1', name: 'f', arguments: '{"x":1}' }] }),
      record({ span: 3, time: 3, event: 'gen_ai.user.message', body: { content: 'q' } }),
      record({ span: 3, time: 4, event: 'gen_ai.tool.message', body: { id: 'c1', content: '{"r":1}' } }),
      choiceRecord({ span: 3, time: 5, text: 'done' }),
    ],
    calls: [
      {
        id: 'c1',
        name: 'f',
        arguments: { x: 1 },
        result: { r: 1 },
        executed: true,
        provenance: { name: 'log_record', id: 'log_record', arguments: 'log_record', result: 'log_record' },
      },
    ],
  },
  {
    name: 'two instrumentations of one execution, one span inside the other, are one call',
    spans: [
      toolSpan({ id: 2, parent: 1, tool: 'f', scope: 'one', start: 2, end: 9, arguments: '{"x":1}' }),
      span({ id: 3, parent: 2, start: 3 }),
      toolSpan({ id: 4, parent: 3, tool: 'f', scope: 'two', start: 4, end: 8, call: 'c1', result: 'r' }),
    ],
    calls: [{ name: 'f', id: 'c1', arguments: { x: 1 }, result: 'r', spanId: toolSpan({ id: 2 }).spanId }],
  },
  {
    name: 'two instrumentations beside each other are one call; two calls of one instrumentation are two',
    spans: [
      toolSpan({ id: 2, parent: 1, tool: 'f', scope: 'one', start: 2, end: 9 }),
      toolSpan({ id: 3, parent: 1, tool: 'f', scope: 'two', start: 3, end: 8 }),
      toolSpan({ id: 4, parent: 1, tool: 'f', scope: 'one', start: 20, end: 30 }),
      toolSpan({ id: 5, parent: 1, tool: 'f', scope: 'one', start: 20, end: 30 }),
    ],
    calls: [{ spanId: toolSpan({ id: 2 }).spanId }, { spanId: toolSpan({ id: 4 }).spanId }, { spanId: toolSpan({ id: 5 }).spanId }],
  },
  {
    name: 'a failed span is a failed call, and its exception gives the reason',
    spans: [
      toolSpan({
        id: 2,
        parent: 1,
        tool: 'f',
        status: 'error',
        message: 'status',
        events: [{ name: 'exception', attributes: { 'exception.message': 'boom', 'exception.type': 'E' } }],
      }),
      toolSpan({ id: 3, parent: 1, tool: 'g', attributes: { 'error.type': 'T' } }),
    ],
    calls: [{ error: { message: 'boom', sign: 'span_status', type: 'E' } }, { error: { message: '', sign: 'error_type', type: 'T' } }],
  },
  {
    name: 'a span with status OK states success, one without a status states nothing, and an error counts more',
    spans: [
      toolSpan({ id: 2, parent: 1, tool: 'f', status: 'ok' }),
      toolSpan({ id: 3, parent: 1, tool: 'g', status: 'ok', attributes: { 'error.type': 'T' } }),
    ],
    calls: [{ statedOk: true }, { error: { message: '', sign: 'error_type', type: 'T' } }],
  },
  {
    name: 'arguments that are not an object are kept as a text',
    spans: [toolSpan({ id: 2, parent: 1, tool: 'f', arguments: 'not json' })],
    calls: [{ name: 'f', arguments: null, argumentsText: 'not json' }],
  },
  {
    name: 'names from the object prototype are ordinary names',
    spans: [
      modelSpan({ id: 2, parent: 1, asks: [{ id: '__proto__', name: 'constructor', arguments: '{"__proto__":1}' }] }),
      toolSpan({ id: 3, parent: 1, tool: 'constructor', call: '__proto__' }),
    ],
    calls: [{ name: 'constructor', id: '__proto__', executed: true }],
  },
];

describe('tool calls', () => {
  for (const { name, spans, records, calls } of cases) {
    test(`tool calls: ${name}`, () => {
      const found = onlyTrace([root, ...spans], records).toolCalls;
      expect(found).toHaveLength(calls.length);
      for (const [index, call] of calls.entries()) expect(found[index]).toMatchObject(call);
    });
  }

  test('tool calls: an unknown member is absent', () => {
    const [call] = onlyTrace([root, toolSpan({ id: 2, parent: 1, tool: 'f' })]).toolCalls;
    expect(Object.keys(call ?? {}).sort()).toEqual(['endUnixNano', 'executed', 'name', 'provenance', 'spanId', 'startUnixNano']);
  });
});
