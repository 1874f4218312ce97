/** One run in which every field carries a hostile text: the field at place `n` of run `r` carries payload `r + n`, so that together the runs carry every payload in every field. */
import type { AttributeValue, LogRecord, Span } from '../../../../src/model/span.ts';
import { attributed, record, span, type Attributes } from '../../../builders/spans.ts';
import { type Payload, payloads } from './payloads.ts';

/** Fields of a span or a record. The order is the place of a field. */
export const fields = [
  'span_name',
  'agent_name',
  'agent_description',
  'service',
  'version',
  'session',
  'model',
  'response_model',
  'tool_name',
  'tool_description',
  'argument',
  'argument_name',
  'schema_member',
  'call_id',
  'result',
  'user_message',
  'system_message',
  'answer',
  'reasoning',
  'attribute_key',
  'attribute_value',
  'event_name',
  'event_attribute',
  'exception',
  'status_message',
  'link_attribute',
  'resource_key',
  'resource_value',
  'scope_name',
  'record_body',
  'record_attribute',
] as const;

export type Field = (typeof fields)[number];

export interface HostileRun {
  readonly trace: number;
  readonly spans: readonly Span[];
  readonly records: readonly LogRecord[];
  payloadIn(field: Field): Payload;
}

/** Texts of other lengths are refused as names. */
const nameCharsMax = 400;

/** The texts of one run. */
interface Texts {
  payloadIn(field: Field): Payload;
  text(field: Field): string;
  /** As far as a name may go. */
  name(field: Field): string;
}

/** The attributes that all spans of the run have. */
interface Common {
  readonly trace: number;
  readonly startMs: number;
  readonly resource: Attributes;
  readonly scope: string;
}

/** `nth` counts from 0 to the number of payloads; `trace` makes the trace id. */
export function hostileRun(nth: number, { trace, startMs }: { readonly trace: number; readonly startMs: number }): HostileRun {
  const payloadIn = (field: Field): Payload => payloads[(nth + fields.indexOf(field)) % payloads.length] as Payload;
  const text = (field: Field): string => payloadIn(field).text;
  const texts: Texts = { payloadIn, text, name: (field) => text(field).slice(0, nameCharsMax) };
  const { name } = texts;
  const resource = {
    'service.name': name('service'),
    'service.version': name('version'),
    [`resource.${name('resource_key')}`]: text('resource_value'),
  };
  const common: Common = { trace, startMs, resource, scope: name('scope_name') };
  const spans = [agent(texts, common), model(texts, common), tool(texts, common)];
  return {
    trace,
    // Only the one of the tool has a link.
    spans: spans.map((one) => ({
      ...one,
      links: one.links.map((link) => ({ ...link, ...attributed({ [name('attribute_key')]: text('link_attribute') }) })),
    })),
    records: [
      record({
        trace,
        span: 2,
        time: startMs + 800,
        event: 'gen_ai.choice',
        body: { message: { role: 'assistant', content: text('record_body') } },
        attributes: { 'event.note': text('record_attribute') },
      }),
    ],
    payloadIn,
  };
}

function agent({ text, name }: Texts, { startMs, ...common }: Common): Span {
  const definitions = [
    {
      type: 'function',
      name: name('tool_name'),
      description: text('tool_description'),
      parameters: { type: 'object', properties: { [name('schema_member')]: { type: 'number' } }, required: [name('schema_member')] },
    },
  ];
  return span({
    ...common,
    id: 1,
    name: name('span_name'),
    start: startMs,
    end: startMs + 3_000,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': name('agent_name'),
      'gen_ai.agent.description': text('agent_description'),
      'gen_ai.conversation.id': name('session'),
      'gen_ai.tool.definitions': JSON.stringify(definitions),
      'gen_ai.system_instructions': [part('text', text('system_message'))],
      'gen_ai.input.messages': [message('user', part('text', text('user_message')))],
      'gen_ai.output.messages': [message('assistant', part('text', text('answer')))],
      ...modelAttributes(name),
      [name('attribute_key')]: text('attribute_value'),
    },
    events: [{ name: name('event_name'), attributes: { [name('attribute_key')]: text('event_attribute') } }],
  });
}

function model({ text, name }: Texts, { startMs, ...common }: Common): Span {
  const system = message('system', part('text', text('system_message')));
  const call: AttributeValue = {
    type: 'tool_call',
    id: name('call_id'),
    name: name('tool_name'),
    arguments: { [name('argument_name')]: text('argument') },
  };
  return span({
    ...common,
    id: 2,
    parent: 1,
    name: `chat ${name('model')}`,
    start: startMs + 100,
    end: startMs + 900,
    attributes: {
      'gen_ai.operation.name': 'chat',
      ...modelAttributes(name),
      'gen_ai.input.messages': [system, message('user', part('text', text('user_message')))],
      'gen_ai.output.messages': [message('assistant', part('reasoning', text('reasoning')), call)],
    },
  });
}

function tool({ text, name }: Texts, { startMs, ...common }: Common): Span {
  const exception = text('exception');
  return span({
    ...common,
    id: 3,
    parent: 1,
    name: `execute_tool ${name('tool_name')}`,
    start: startMs + 1_000,
    end: startMs + 1_500,
    status: 'error',
    message: text('status_message'),
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': name('tool_name'),
      'gen_ai.tool.call.id': name('call_id'),
      'gen_ai.tool.call.arguments': { [name('argument_name')]: text('argument') },
      'gen_ai.tool.call.result': text('result'),
    },
    events: [
      { name: 'exception', attributes: { 'exception.type': exception, 'exception.message': exception, 'exception.stacktrace': exception } },
    ],
    links: [{ trace: 1, span: 1 }],
  });
}

function modelAttributes(name: Texts['name']): Attributes {
  return {
    'gen_ai.request.model': name('model'),
    'gen_ai.response.model': name('response_model'),
    'gen_ai.usage.input_tokens': 10,
    'gen_ai.usage.output_tokens': 5,
  };
}

function message(role: string, ...parts: readonly AttributeValue[]): AttributeValue {
  return { role, parts };
}

function part(type: string, content: string): AttributeValue {
  return { type, content };
}
